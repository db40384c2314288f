// Sweeps, and their runs on the cores of this machine.
#include "hplcast/study/sweep.hpp"

#include <signal.h>
#include <algorithm>
#include <map>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/predict.hpp"
#include "study/run/local_machine.hpp"
#include "study/run/parallel_runs.hpp"
#include "study/sweep/sweep_executor.hpp"

namespace hplcast::study {

std::string work_prefix(const fs::path& database) {
  return database.filename().string() + ".work";
}

SweepOutcome run_task(const SweepTask& task, const SweepExecution& execution,
                      const std::function<void()>& while_running) {
  const std::string name = task.run->id.substr(0, 16);
  const fs::path work = execution.work / name;
  PredictionRequest request = request_of(*task.run);
  request.cluster = *task.cluster;
  request.timeout_s = execution.timeout_s;
  request.programs = execution.programs;
  request.keep = work;
  if (task.has_twin) request.shared_windows = execution.work / "windows";
  const fs::path log = execution.database.filename().string() + ".logs/" + name;
  const fs::path logs = fs::absolute(execution.database).parent_path() / log;
  SweepOutcome outcome;
  outcome.task = &task;
  std::error_code ignored;
  try {
    outcome.prediction = predict(request, {while_running});
    outcome.prediction->model_levels = task.run->levels;
    outcome.prediction->interval =
        predictive_interval(*outcome.prediction, *task.cluster, closed_form_basis(*task.cluster, *outcome.prediction),
                            IntervalRequest().level_percent);
    fs::remove_all(work, ignored);
    fs::remove_all(logs, ignored);  // of an attempt that failed
  } catch (const core::StorageError& error) {
    throw core::StorageError(std::string(error.what()) +
                             "\n  hint: make room, then the same command goes on; nothing that was done is lost");
  } catch (const core::Error& error) {
    constexpr int signals = 128;
    if (static_cast<int>(error.code()) >= signals) throw;
    fs::create_directories(logs.parent_path(), ignored);
    fs::remove_all(logs, ignored);
    fs::rename(work, logs, ignored);
    outcome.failure = {task.run->id, core::all_replaced(error.what(), work.string(), (ignored ? work : logs).string()),
                       ignored ? "" : log.string()};
    const auto* external = dynamic_cast<const core::ExternalError*>(&error);
    outcome.killed =
        external != nullptr && (external->status() == signals + SIGKILL || external->status() == signals + SIGTERM);
  }
  return outcome;
}

void put_twins_last(std::vector<SweepTask>& tasks) {
  std::map<std::string, SweepTask*> first;
  std::set<const SweepRun*> second;
  for (SweepTask& task : tasks) {
    if (task.run->energy || !resolve_unchecked(request_of(*task.run)).is_sampled()) continue;
    SweepRun run = *task.run;
    run.parameters = core::same_until(0, run.parameters);
    const auto [twin, is_first] = first.emplace(run_id(run), &task);
    if (is_first || twin->second->has_twin) continue;
    task.has_twin = twin->second->has_twin = true;
    second.insert(task.run);
  }
  std::stable_partition(tasks.begin(), tasks.end(), [&](const SweepTask& task) { return second.count(task.run) == 0; });
}

void execute_locally(const SweepExecution& execution, int jobs) {
  ParallelRuns<SweepOutcome>(execution.tasks.size(), jobs,
                             [&](std::size_t index, const SimulationWatch& watch) {
                               return run_task(execution.tasks[index], execution, watch.while_running);
                             })
      .run([&](std::size_t, const SweepOutcome& outcome) { execution.ended(outcome); },
           [&](const std::vector<double>&) { execution.tick(); });
}

SweepSummary run_sweep(const SweepRequest& request, const SweepRuns& runs) {
  check_programs(request.programs);  // once, rather than in every run
  SweepDatabase database(request.database, SweepDatabase::Access::write);
  database.add_plan(request.plan, request.plan_text, runs);

  SweepSummary summary;
  summary.skipped = runs.skipped.size();
  SweepExecution execution;
  execution.timeout_s = request.plan.timeout_s;
  execution.programs = request.programs;
  execution.database = database.path();
  const auto done = database.done();
  const auto failed = database.failed();
  double all_effort_s = 0, done_effort_s = 0;
  for (const SweepRun& run : runs.runs) {
    if (done.count(run.id) > 0) {
      ++summary.found;
    } else if (failed.count(run.id) > 0 && !request.retry_failed) {
      ++summary.found_failed;
    } else {
      execution.tasks.push_back(
          {&run, &runs.clusters.at(run.model_sha256), resolve_unchecked(request_of(run)).needs().wall_s});
      all_effort_s += execution.tasks.back().effort_s;
    }
  }
  // The longest first: short ones then fill the last minutes of all cores.
  std::stable_sort(execution.tasks.begin(), execution.tasks.end(),
                   [](const SweepTask& a, const SweepTask& b) { return a.effort_s > b.effort_s; });
  execution.ended = [&](const SweepOutcome& outcome) {
    if (outcome.prediction) {
      database.add_result(*outcome.task->run, *outcome.prediction);
      ++summary.made;
    } else {
      database.add_failure(outcome.failure);
      ++summary.failed;
    }
    done_effort_s += outcome.task->effort_s;
  };
  execution.tick = [&] {
    if (!request.progress) return;
    request.progress(
        {summary.made + summary.failed, summary.failed, execution.tasks.size(), done_effort_s / all_effort_s});
  };
  if (execution.tasks.empty()) return summary;
  const int jobs = request.jobs > 0 ? request.jobs : local_machine().cores;
  if (request.slurm) {
    execute_on_slurm(execution, jobs, request.slurm_options);
  } else {
    const core::TemporaryFolder work(work_prefix(database.path()), fs::absolute(database.path()).parent_path());
    execution.work = work.path();
    put_twins_last(execution.tasks);
    execute_locally(execution, jobs);
  }
  return summary;
}

}  // namespace hplcast::study
