#include "hplcast/study/resolve.hpp"

#include <algorithm>

#include "hplcast/core/random_stream.hpp"
#include "study/run/hpl_simulation.hpp"
#include "study/run/local_machine.hpp"
#include "study/run/simulation_files.hpp"

namespace hplcast::study {

const char* to_string(SimulationMode mode) {
  if (mode == SimulationMode::automatic) return "auto";
  return mode == SimulationMode::fast ? "fast" : "exact";
}

namespace {

/// Messages that exact mode simulates for all panels, and fast mode does not.
double messages_saved_by_fast(const core::HplParameters& p) {
  return SimulationNeeds::of_all_panels(p, SimulationMode::exact).simulated_messages -
         SimulationNeeds::of_all_panels(p, SimulationMode::fast).simulated_messages;
}

/// exact or fast: the meaning of `automatic` if all panels are simulated.
SimulationMode mode_of_all_panels(const PredictionRequest& request) {
  if (request.mode != SimulationMode::automatic) return request.mode;
  if (observes_messages(request.observation) || platform_library(request.programs).empty())
    return SimulationMode::exact;
  return messages_saved_by_fast(request.parameters) < fast_from_messages ? SimulationMode::exact : SimulationMode::fast;
}

/// Whether windows save time. Fewer rounds of the process grid than `least_rounds`: windows would be as long as the
/// run.
bool worth_sampling(const PredictionRequest& request, int panels, SimulationMode unsampled_mode) {
  constexpr int least_rounds = 15;
  constexpr double worth_sampling_s = 30;
  const core::HplParameters& p = request.parameters;
  return (request.only_window || !is_observed(request.observation)) && panels > least_rounds * std::max(p.P, p.Q) &&
         SimulationNeeds::of_all_panels(p, unsampled_mode).wall_s > worth_sampling_s;
}

/// Panels that count, where windows are chosen automatically and would take long with those of `rule`.
int affordable_panels(const PredictionRequest& request, const WindowRule& rule) {
  constexpr double costly_s = 60;
  constexpr int exact_panels = 320, costly_panels = 224;
  const core::HplParameters& p = request.parameters;
  const double share = WindowPlan::make(p, rule).simulated_share();
  if (share * SimulationNeeds::of_all_panels(p, SimulationMode::fast).wall_s > costly_s)
    return std::min(rule.panels, costly_panels);
  // Where auto would take fast mode, an exact panel costs twice as much; one with long swaps, or of many ranks, more.
  const bool exact_is_costly =
      request.mode == SimulationMode::exact && share * messages_saved_by_fast(p) >= fast_from_messages_in_windows;
  return exact_is_costly ? std::min(rule.panels, exact_panels) : rule.panels;
}

WindowPlan windows_of(const PredictionRequest& request, SimulationMode unsampled_mode) {
  WindowRule rule = request.windows;
  if (rule.kind == WindowRule::Kind::as_given) return WindowPlan::make(request.parameters, rule);
  const WindowPlan all = WindowPlan::make(request.parameters, WindowRule::from("off"));
  if (rule.kind == WindowRule::Kind::off || !worth_sampling(request, all.panels, unsampled_mode)) return all;
  rule.panels = affordable_panels(request, rule);
  constexpr double largest_share = 0.7;
  const WindowPlan windows = WindowPlan::make(request.parameters, rule);
  return windows.simulated_share() < largest_share ? windows : all;
}

/// exact or fast: the meaning of `automatic` in these windows.
SimulationMode mode_of(const PredictionRequest& request, SimulationMode unsampled_mode, const WindowPlan& windows) {
  if (request.mode != SimulationMode::automatic || unsampled_mode == SimulationMode::exact) return unsampled_mode;
  const bool sampled = windows.windows.size() > 1;
  const double saved = windows.simulated_share() * messages_saved_by_fast(request.parameters);
  return sampled && saved < fast_from_messages_in_windows ? SimulationMode::exact : SimulationMode::fast;
}

SimulationNeeds needs_of(const PredictionRequest& request, SimulationMode mode, const WindowPlan& windows) {
  SimulationNeeds needs = SimulationNeeds::of_all_panels(request.parameters, mode);
  if (windows.windows.size() == 1) return needs;
  // The last window solves the whole system; every window starts all ranks.
  core::HplParameters one_panel = request.parameters;
  one_panel.N = one_panel.NB;
  const double start_s = SimulationNeeds::of_all_panels(one_panel, SimulationMode::fast).wall_s;
  const int jobs = std::min(std::max(1, request.window_jobs), static_cast<int>(windows.windows.size()));
  needs.wall_s =
      (windows.simulated_share() * needs.wall_s + static_cast<double>(windows.windows.size()) * start_s) / jobs;
  needs.simulated_messages *= windows.simulated_share();
  needs.memory_bytes *= jobs;
  return needs;
}

}  // namespace

RunPlan::RunPlan(PredictionRequest request)
    : request_(std::make_shared<const PredictionRequest>(std::move(request))),
      seed_(request_->seed),
      unsampled_mode_(mode_of_all_panels(*request_)),
      windows_(windows_of(*request_, unsampled_mode_)),
      mode_(mode_of(*request_, unsampled_mode_, windows_)),
      needs_(needs_of(*request_, mode_, windows_)) {}

RunPlan RunPlan::of_window(const PanelWindow& window) const {
  RunPlan plan = *this;
  plan.window_ = window;
  if (window.counts_from == 0) return plan;  // the warm-up of another may begin with the run, too
  core::RandomStream random({seed_, core::stream_window, static_cast<std::uint32_t>(window.first), 0, 0});
  plan.seed_ = random.below(std::uint64_t{1} << 63);
  return plan;
}

MemorySettings RunPlan::memory() const {
  return MemorySettings::make(needs_, local_machine().max_map_count);
}

RunPlan resolve_unchecked(PredictionRequest request) {
  return RunPlan(std::move(request));
}

}  // namespace hplcast::study
