#pragma once

#include <vector>

#include "hpl_simulation.hpp"

namespace hplcast::study {

/// Counts of kernels and messages of a whole run from those of its windows: per panel a quadratic in the
/// remaining size through all windows but the last, which counts as it is, because only it solves the system.
/// @param simulations  of the windows of `plan`, in their order; two or more
void extrapolate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                        core::Prediction& prediction);

}  // namespace hplcast::study
