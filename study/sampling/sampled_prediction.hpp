#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "hplcast/study/predict.hpp"
#include "study/run/hpl_simulation.hpp"

namespace hplcast::study {

/// In their error bars: Student's law has 95 % within 1.96 to 2; 150 of 158 predictions are (docs/measurements).
inline constexpr double sds_in_sampling_error = 2;

/// The time of a run by its windows, and how far it may be off the mean over runs.
struct SampledTime {
  double time_s = 0, error_95_s = 0;
  core::Sampling sampling;
};

/// Adds up the windows of `plan` (two or more), and estimates the panels between them (fit::integrate_curve()).
/// @param time_s  within a window: from the begin of panel `from` (0: of the run) to that of `to` (all: its end)
SampledTime sampled_time(const WindowPlan& plan,
                         const std::function<double(const PanelWindow& window, int from, int to)>& time_s);

/// The same of a program that simulated them one after the other, until `end_s`. Nothing if it left no panel out.
std::optional<SampledTime> sampled_time(const core::MarkedPanels& marked, const WindowRule& rule, double end_s);

/// Simulates one window (`plan` is of one).
using WindowSimulator = std::function<HplSimulation(const RunPlan& plan, const SimulationWatch& watch)>;

/// Simulates the windows of a plan, each in a process and a folder of its own below `folder`, and estimates the rest
/// (fit::integrate_curve()). Where that is not good enough (WindowPlan::target) it adds windows, and estimates again.
/// Windows whose results lie there already, of the same request, are not simulated again; one
/// that is observed (Observation) is, and leaves no result. `simulator`: another one than HPL's, for tests.
core::Prediction predict_sampled(const RunPlan& plan, const std::filesystem::path& folder, const SimulationWatch& watch,
                                 const WindowSimulator& simulator = {});

/// The result of a window (`plan` is of one) in its folder, so that a run that was stopped, or jobs elsewhere, need not
/// make it again. Nothing if it is not there, or not that of this request. One of PredictionRequest::shared_windows is
/// moved to the folder: of a sweep there would be thousands.
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
