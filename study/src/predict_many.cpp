#include "hplcast/study/predict_many.hpp"

#include "parallel_runs.hpp"

namespace hplcast::study {

namespace {

using Predictions = ParallelRuns<core::Prediction>;

core::Prediction watched_prediction(PredictionRequest request, const Predictions::Watch& watch) {
  request.while_running = watch.while_running;
  request.on_progress = [&](const SimulationProgress& progress) { watch.progress(progress.fraction); };
  return predict(request);
}

}  // namespace

void predict_many(const PredictionBatch& batch) {
  Predictions predictions(batch.requests.size(), batch.jobs, [&](std::size_t index, const Predictions::Watch& watch) {
    return watched_prediction(batch.requests[index], watch);
  });
  for (std::size_t ended = 0; ended < batch.requests.size();) {
    for (auto& [index, prediction] : predictions.wait()) {
      batch.ended(index, std::move(prediction));
      ++ended;
    }
    if (batch.tick) batch.tick(predictions.fractions());
  }
}

}  // namespace hplcast::study
