#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "hplcast/study/predict.hpp"
#include "study/run/hpl_simulation.hpp"

namespace hplcast::study {

/// Simulates one window (`plan` is of one).
using WindowSimulator = std::function<HplSimulation(const RunPlan& plan, const SimulationWatch& watch)>;

/// Simulates the windows of a plan, each in a process and a folder of its own below `folder`, and estimates the rest
/// (fit::integrate_curve()). Where that is not good enough (WindowPlan::target) it adds windows, and estimates again.
/// Windows whose results lie there already, of the same request, are not simulated again; one
/// that is observed (Observation) is, and leaves no result.
core::Prediction predict_sampled(const RunPlan& plan, const std::filesystem::path& folder,
                                 const SimulationWatch& watch);

/// The same with another simulator, for tests.
core::Prediction predict_sampled(const RunPlan& plan, const WindowSimulator& simulator);

/// The result of a window (`plan` is of one) in its folder, so that a run that was stopped, or jobs elsewhere, need not
/// make it again. Nothing if it is not there, or not that of this request.
std::optional<HplSimulation> read_window(const RunPlan& plan, const std::filesystem::path& folder);
void write_window(const RunPlan& plan, const std::filesystem::path& folder, const HplSimulation& simulation);

/// Counts of kernels and messages and the phases of a whole run: those between the first and the last counted panel of
/// every window, with the set-up of the run in the first window and its end in the last one, and between windows, per
/// panel, a quadratic through all of them and linear from window to window in what they are off it. The times of the
/// phases are then scaled so that they add up to that of the prediction. The extremes over ranks are as far from the
/// mean as in the windows.
/// @param simulations  of the windows of `plan`, in their order; two or more
void integrate_counts(const WindowPlan& plan, const std::vector<HplSimulation>& simulations,
                      core::Prediction& prediction);

}  // namespace hplcast::study
