#include "hplcast/study/sweep.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/local_machine.hpp"
#include "hplcast/study/simgrid_parts.hpp"
#include "hplcast/study/workspace.hpp"
#include "sweep_executor.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

SweepSummary run_sweep(const SweepRequest& request) {
  check_programs(request.programs);  // once, rather than in every run
  SweepDatabase database(request.database, SweepDatabase::Access::write);
  const SweepRuns runs = runs_of(request.plan);
  for (const std::string& warning : runs.warnings) {
    if (request.warn) request.warn(warning);
  }
  database.add_plan(request.plan, request.plan_text, runs);

  SweepSummary summary;
  summary.skipped = runs.skipped.size();
  SweepExecution execution;
  execution.timeout_s = request.plan.timeout_s;
  execution.programs = request.programs;
  execution.database = database.path();
  const auto done = database.done();
  const auto failed = database.failed();
  double all_effort = 0, done_effort = 0;
  for (const SweepRun& run : runs.runs) {
    if (done.count(run.id) > 0) {
      ++summary.found;
    } else if (failed.count(run.id) > 0 && !request.retry_failed) {
      ++summary.found_failed;
    } else {
      execution.tasks.push_back({&run, &runs.clusters.at(run.model_sha256)});
      all_effort += effort(run);
    }
  }
  // The longest first: short ones then fill the last minutes of all cores.
  std::stable_sort(execution.tasks.begin(), execution.tasks.end(),
                   [](const SweepTask& a, const SweepTask& b) { return effort(*a.run) > effort(*b.run); });
  execution.ended = [&](const SweepOutcome& outcome) {
    if (outcome.prediction) {
      database.add_result(*outcome.task->run, *outcome.prediction);
      ++summary.made;
    } else {
      database.add_failure(outcome.failure);
      ++summary.failed;
    }
    done_effort += effort(*outcome.task->run);
  };
  execution.tick = [&] {
    if (!request.progress) return;
    request.progress({summary.made + summary.failed, summary.failed, execution.tasks.size(), done_effort / all_effort});
  };
  if (execution.tasks.empty()) return summary;
  const int jobs = request.jobs > 0 ? request.jobs : local_machine().cores;
  if (request.slurm) {
    execute_on_slurm(execution, jobs, request.slurm_options);
  } else {
    const core::TemporaryFolder work(work_prefix(database.path()), fs::absolute(database.path()).parent_path());
    execution.work = work.path();
    execute_locally(execution, jobs);
  }
  return summary;
}

}  // namespace hplcast::study
