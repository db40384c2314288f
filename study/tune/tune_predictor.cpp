#include "study/tune/tune_rounds.hpp"

#include <algorithm>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/study/resolve.hpp"
#include "study/run/local_machine.hpp"
#include "study/sweep/sweep_executor.hpp"

namespace hplcast::study {

namespace {

struct OutOfTime : std::exception {};

/// Costs are extrapolated from smaller matrices.
constexpr double margin = 1.1;

}  // namespace

TunePredictor::TunePredictor(const TuneRequest& request, SimulationMode mode)
    : request_(request),
      mode_(mode),
      sha256_(core::cluster_sha256(request.cluster)),
      start_(Clock::now()),
      jobs_(request.jobs > 0 ? request.jobs : local_machine().cores) {}

double TunePredictor::elapsed_s() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::vector<std::optional<core::Prediction>> TunePredictor::predict(const std::vector<Asked>& asked, double deadline_s,
                                                                    const std::string& what) {
  std::vector<SweepRun> runs(asked.size());
  std::vector<std::optional<core::Prediction>> results(asked.size());
  SweepExecution execution;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    runs[i].model_sha256 = sha256_;
    runs[i].parameters = asked[i].parameters;
    runs[i].mode = to_string(mode_);
    runs[i].seed = asked[i].seed;
    runs[i].energy = needs_energy(request_.objective);
    runs[i].id = run_id(runs[i]);
    runs[i].windows.windows = asked[i].windows;
    runs[i].windows.target = 0;
    execution.tasks.push_back({&runs[i], &request_.cluster});
  }
  put_twins_last(execution.tasks);
  execution.programs = request_.programs;
  execution.database = folder_.path() / "tune";
  execution.work = folder_.path();
  execution.ended = [&](const SweepOutcome& outcome) {
    if (!outcome.prediction) {
      failures_.push_back(outcome.failure.message);
      if (outcome.failure.message.find(folder_.path().string()) != std::string::npos) folder_.keep();
      return;
    }
    const auto index = static_cast<std::size_t>(outcome.task->run - runs.data());
    const core::HplParameters& parameters = asked[index].parameters;
    if (!outcome.task->has_twin) {  // a twin takes windows of the other
      const double planned_s = plan_of(parameters, {parameters.N, asked[index].windows}).needs().wall_s;
      // The first one is small: what it takes beyond its plan is the start of programs.
      constexpr double longest_start_s = 1;
      if (expected_s_ == 0) start_s_ = std::clamp(outcome.prediction->wall_s - planned_s, 0.0, longest_start_s);
      taken_s_ += std::max(0.0, outcome.prediction->wall_s - start_s_);
      expected_s_ += planned_s;
    }
    results[index] = outcome.prediction;
  };
  execution.tick = [&] {
    if (request_.progress) request_.progress(std::min(1.0, elapsed_s() / request_.budget_s), what);
    if (elapsed_s() > deadline_s) throw OutOfTime();
  };
  try {
    execute_locally(execution, jobs_);
  } catch (const OutOfTime&) {
    // Simulations that have ended count.
  }
  return results;
}

RunPlan TunePredictor::plan_of(const core::HplParameters& parameters, const TuneScale& scale) const {
  PredictionRequest request;
  request.parameters = parameters;
  request.parameters.N = scale.N;
  request.mode = mode_;
  request.cluster.power = request_.cluster.power;  // where frequencies change, all panels are simulated
  request.windows.windows = scale.windows;
  request.windows.target = 0;  // what is compared has as many windows
  return resolve_unchecked(std::move(request));
}

int TunePredictor::windows(const core::HplParameters& parameters, const TuneScale& scale) const {
  return std::max(0, static_cast<int>(plan_of(parameters, scale).windows().windows.size()) - 2);
}

double TunePredictor::wall_s(const std::vector<core::HplParameters>& configurations, const TuneScale& scale,
                             std::size_t seeds) const {
  constexpr double little_s = 1;  // less says little of how fast this machine is
  const double slower = (taken_s_ + little_s) / (expected_s_ + little_s);
  double sum_s = 0, longest_s = 0;
  for (const core::HplParameters& parameters : configurations) {
    const double one_s = start_s_ + slower * plan_of(parameters, scale).needs().wall_s;
    sum_s += static_cast<double>(seeds) * one_s;
    longest_s = std::max(longest_s, one_s);
  }
  // Upper bound of list scheduling (Graham 1969).
  return margin * (sum_s + (jobs_ - 1) * longest_s) / jobs_;
}

long long TunePredictor::affordable_N(const std::vector<core::HplParameters>& configurations, double available_s,
                                      long long least, long long most) const {
  if (wall_s(configurations, {most}, 1) <= available_s) return most;
  constexpr long long step = 100;
  long long low = least / step, high = most / step;  // wall_s grows with N, but for where sampling begins
  while (high - low > 1) {
    const long long middle = (low + high) / 2;
    (wall_s(configurations, {middle * step}, 1) <= available_s ? low : high) = middle;
  }
  return std::max(least, low * step);
}

}  // namespace hplcast::study
