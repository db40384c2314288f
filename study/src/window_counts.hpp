#pragma once

#include <vector>

#include "hpl_simulation.hpp"

namespace hplcast::study {

/// Counts of kernels and messages and the phases of a whole run: those between the first and the last counted panel of every window,
/// with the set-up of the run in the first window and its end in the last one, and between windows, per panel, a
/// quadratic through all of them and linear from window to window in what they are off it. The times of the phases are
/// then scaled so that they add up to that of the prediction. The extremes over ranks are as far from the mean as in
/// the windows.
/// @param simulations  of the windows of `plan`, in their order; two or more
void integrate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction);

}  // namespace hplcast::study
