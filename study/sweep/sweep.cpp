// Sweeps on the cores of this machine: a thread for each job, which waits for its simulation.
#include "hplcast/study/predict.hpp"
#include "hplcast/study/sweep.hpp"

#include <signal.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "study/run/local_machine.hpp"
#include "study/sweep/sweep_executor.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

/// Threads that make tasks and queue their outcomes. Stops and joins them at destruction.
class Workers {
 public:
  Workers(const SweepExecution& execution, std::size_t count) : execution_(execution) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// The outcomes since the last call, after at most 100 ms. @throws what a worker could not make a failure of.
  std::deque<SweepOutcome> wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    queued_.wait_for(lock, std::chrono::milliseconds(100), [this] { return !outcomes_.empty() || fatal_ != nullptr; });
    if (fatal_ != nullptr && outcomes_.empty()) std::rethrow_exception(fatal_);
    return std::exchange(outcomes_, {});
  }

 private:
  void work() {
    for (std::size_t index = next_++; index < execution_.tasks.size() && !stop_; index = next_++) {
      try {
        SweepOutcome outcome = run_task(execution_.tasks[index], execution_, [this] {
          if (stop_) throw Stopped();
        });
        const std::lock_guard<std::mutex> lock(mutex_);
        outcomes_.push_back(std::move(outcome));
      } catch (const Stopped&) {
        return;
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex_);
        fatal_ = std::current_exception();
        stop_ = true;
      }
      queued_.notify_one();
    }
  }

  const SweepExecution& execution_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::deque<SweepOutcome> outcomes_;
  std::exception_ptr fatal_;
  std::vector<std::thread> threads_;
};

/// A message with the names of files that have moved from one folder to another.
std::string moved(std::string message, const fs::path& from, const fs::path& to) {
  for (std::size_t at = 0; (at = message.find(from.string(), at)) != std::string::npos; at += to.string().size())
    message.replace(at, from.string().size(), to.string());
  return message;
}

}  // namespace

fs::path beside(const fs::path& database, const char* suffix) {
  return database.string() + suffix;
}

std::string work_prefix(const fs::path& database) {
  return database.filename().string() + ".work";
}

double effort(const SweepRun& run) {
  return resolve_unchecked(request_of(run)).needs().wall_s;
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
  const fs::path log = beside(execution.database, ".logs").filename() / name;
  const fs::path logs = fs::absolute(execution.database).parent_path() / log;
  SweepOutcome outcome;
  outcome.task = &task;
  std::error_code ignored;
  try {
    outcome.prediction = predict(request, {while_running});
    outcome.prediction->model_levels = task.run->levels;
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
    outcome.failure = {task.run->id, moved(error.what(), work, ignored ? work : logs), ignored ? "" : log.string()};
    const auto* external = dynamic_cast<const core::ExternalError*>(&error);
    outcome.killed =
        external != nullptr && (external->status() == signals + SIGKILL || external->status() == signals + SIGTERM);
  }
  return outcome;
}

void execute_locally(const SweepExecution& execution, int jobs) {
  Workers workers(execution, std::min(static_cast<std::size_t>(jobs), execution.tasks.size()));
  for (std::size_t ended = 0; ended < execution.tasks.size();) {
    for (const SweepOutcome& outcome : workers.wait()) {
      execution.ended(outcome);
      ++ended;
    }
    execution.tick();
  }
}

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
