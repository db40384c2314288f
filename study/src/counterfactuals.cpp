#include "counterfactuals.hpp"

#include "hplcast/core/files.hpp"
#include "phase_differences.hpp"
#include "simulated_ranks.hpp"

namespace hplcast::study {

PredictionRequest request_of(const ExplainRequest& request) {
  PredictionRequest again;
  again.cluster = request.cluster;
  again.parameters = request.prediction.parameters;
  again.seed = request.prediction.seed;
  again.mode = request.prediction.mode == "fast" ? SimulationMode::fast : SimulationMode::exact;
  if (!request.prediction.sampling) again.windows.kind = WindowRule::Kind::off;
  again.programs = request.programs;
  again.timeout_s = request.timeout_s;
  return again;
}

namespace {

void tell(const ExplainRequest& request, double done, const std::string& what) {
  if (request.progress) request.progress(done, what);
}

}  // namespace

Baseline simulate_baseline(const ExplainRequest& request, bool events) {
  const core::TemporaryFolder folder("hplcast-explain");
  PredictionRequest again = request_of(request);
  const bool whole = !request.prediction.sampling;
  if (events) {
    again.mode = SimulationMode::exact;
    again.windows.kind = WindowRule::Kind::off;
    again.observation.trace = folder.path() / "trace.json";
  }
  if (whole || events) again.observation.phases_csv = folder.path() / "phases.csv";
  again.while_running = [&] { tell(request, 0, "the prediction again"); };
  Baseline baseline;
  again.observation.phases = true;
  core::Prediction prediction = predict(again);
  baseline.time_s = prediction.time_s;
  baseline.summaries = std::move(prediction.phases);
  if (whole || events) baseline.phases = read_phases_csv(again.observation.phases_csv);
  if (events) baseline.ranks = simulated_ranks(again.observation.trace, again.parameters.P * again.parameters.Q);
  return baseline;
}

double simulate_causes(const ExplainRequest& request, const std::vector<RankPlace>& places, double baseline_s,
                       std::vector<Replacement>& causes) {
  PredictionRequest again = request_of(request);
  again.observation.phases = true;
  MeasuredParts parts;
  double time_s = baseline_s;
  double waiting_s = 0;
  double done = 1;
  for (Replacement& one : causes) {
    merge(parts, one.parts);
    again.cluster = with_measured(request.cluster, parts, places);
    again.while_running = [&] {
      tell(request, done / (1 + static_cast<double>(causes.size())), "counterfactual: " + one.cause.text);
    };
    const core::Prediction changed = predict(again);
    one.cause.simulated_s = changed.time_s - time_s;
    time_s = changed.time_s;
    waiting_s = 0;
    for (const core::PhaseSummary& phase : changed.phases) waiting_s += phase.waiting_s;
    ++done;
  }
  return waiting_s;
}

}  // namespace hplcast::study
