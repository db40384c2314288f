#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/study/resolve.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

/// How runs are handed to Slurm.
struct SlurmOptions {
  int chunk = 0;                    ///< runs in one array task; 0: chosen so that tasks of a job are about four
  std::vector<std::string> sbatch;  ///< more options of sbatch: --partition=x
  double poll_s = 5;                ///< pause between two looks at the queue
  std::filesystem::path hplcast;    ///< the program that tasks run, on a path that nodes share; empty: the running one
};

struct SweepProgress {
  std::size_t ended = 0;  ///< of the runs of this call, failed ones included
  std::size_t failed = 0;
  std::size_t all = 0;
  double fraction = 0;  ///< of the work, 0 to 1
};

/// Runs that a plan asks for, and how to make them.
struct SweepRequest {
  SweepPlan plan;
  std::string plan_text;  ///< kept with the results
  std::filesystem::path database;
  int jobs = 0;        ///< predictions at a time; 0: the cores of this machine
  bool slurm = false;  ///< as job arrays instead of here
  SlurmOptions slurm_options;
  bool retry_failed = false;  ///< make runs again that failed in an earlier call
  SimulatorPrograms programs;
  std::function<void(const SweepProgress&)> progress;  ///< several times per second; may be empty
};

struct SweepSummary {
  std::size_t made = 0;
  std::size_t found = 0;         ///< that the database had
  std::size_t failed = 0;        ///< in this call
  std::size_t found_failed = 0;  ///< in an earlier one, not tried again
  std::size_t skipped = 0;       ///< configurations that cannot be run
};

/// Makes the runs that the database does not have. Each is kept as soon as it has ended: a sweep can be stopped in any
/// way and started again. A run that fails leaves its files in DATABASE.logs and does not stop the others. `runs`: of
/// the plan. @throws core::Error for a database that cannot be used, missing programs, no Slurm, and on interrupts.
SweepSummary run_sweep(const SweepRequest& request, const SweepRuns& runs);

/// The part of a Slurm array task: makes the runs of chunk number `chunk` of the folder that run_sweep() wrote.
void run_sweep_chunk(const std::filesystem::path& folder, int chunk);

/// Lines of squeue for the jobs of a database; empty if there are none or no Slurm.
std::vector<std::string> slurm_jobs_of(const std::filesystem::path& database);

/// Cancels the Slurm jobs of a database, such as one whose sweep was killed. @throws core::ExternalError
void cancel_slurm_jobs_of(const std::filesystem::path& database);

}  // namespace hplcast::study
