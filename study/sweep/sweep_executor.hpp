#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/sweep.hpp"

namespace hplcast::study {

/// One run to make.
struct SweepTask {
  const SweepRun* run = nullptr;
  const core::ClusterModel* cluster = nullptr;
  double effort_s = 0;    ///< expected on one core, right to a factor of two: order and progress of runs go by it
  bool has_twin = false;  ///< differs from another one by how rows are exchanged, in the last panels only
};

/// The result: a prediction, or a failure.
struct SweepOutcome {
  const SweepTask* task = nullptr;
  std::optional<core::Prediction> prediction;
  FailedRun failure;
  bool killed = false;  ///< the simulation was ended by a signal: the fault may be that of the machine
};

/// Makes tasks and hands every outcome to `ended`, on the calling thread; `tick` is called there, too, several times a
/// second. An exception of either stops everything that runs, and goes on.
struct SweepExecution {
  std::vector<SweepTask> tasks;
  double timeout_s = 0;
  SimulatorPrograms programs;
  std::filesystem::path database;
  std::filesystem::path work;  ///< an absolute folder, where simulations run; on the file system of the database
  std::function<void(const SweepOutcome&)> ended;
  std::function<void()> tick;
};

/// Pairs of sampled runs that do the same until their last panels: the second one goes behind all others, when the
/// windows of its twin are there. Energy is of whole windows, in which the two differ behind what counts.
void put_twins_last(std::vector<SweepTask>& tasks);

void execute_locally(const SweepExecution& execution, int jobs);
void execute_on_slurm(const SweepExecution& execution, int jobs, const SlurmOptions& options);

/// Makes one run in a folder of `execution.work`; what a failed one left is moved to the logs beside the database.
/// @throws what is not the failure of this run alone: interrupts, core::StorageError.
SweepOutcome run_task(const SweepTask& task, const SweepExecution& execution,
                      const std::function<void()>& while_running);

/// The prefix of the temporary folder beside a database where its simulations run, for core::TemporaryFolder.
std::string work_prefix(const std::filesystem::path& database);

}  // namespace hplcast::study
