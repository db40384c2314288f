#include "hplcast/study/predict.hpp"

#include "hplcast/core/errors.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/run/hpl_simulation.hpp"
#include "study/run/parallel_runs.hpp"
#include "study/run/simulation_files.hpp"
#include "study/sampling/sampled_prediction.hpp"

namespace hplcast::study {

void check_programs(const SimulatorPrograms& programs) {
  const std::string smpirun = smpirun_to_run(programs.smpirun);
  if (core::find_program(smpirun).empty()) throw core::ExternalError(smpirun, -1, "no such program in PATH");
  require_one_simgrid(smpirun, simulated_hpl(programs));
}

core::Prediction predict(const RunPlan& plan, const SimulationWatch& watch) {
  return made_in(plan.request().keep, "hplcast-predict", [&](const fs::path& folder) {
    return plan.is_sampled() ? predict_sampled(plan, folder, watch) : simulate_hpl(plan, folder, watch).prediction;
  });
}

core::Prediction predict(const PredictionRequest& request, const SimulationWatch& watch) {
  return predict(resolve(request), watch);
}

void predict_many(const PredictionBatch& batch) {
  ParallelRuns<core::Prediction>(batch.plans.size(), batch.jobs, [&](std::size_t index, const SimulationWatch& watch) {
    return predict(batch.plans[index], watch);
  }).run(batch.ended, [&](const std::vector<double>& fractions) {
    if (batch.tick) batch.tick(fractions);
  });
}

}  // namespace hplcast::study
