#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/study/real_activity.hpp"
#include "hplcast/study/run_energy.hpp"

namespace hplcast::study {

/// A session of real HPL runs.
struct RealRunRequest {
  std::vector<core::HplParameters> configurations;  ///< without repetitions of one configuration
  int repetitions = 3;
  std::uint64_t seed = 1;          ///< of the order of the runs
  std::filesystem::path results;   ///< the CSV that runs are added to; runs that it has are not made again
  std::filesystem::path outputs;   ///< folder for HPL.dat and output of each run; empty: `results` + ".d"
  std::filesystem::path hostfile;  ///< of mpirun; empty: this machine
  bool oversubscribe = false;      ///< allow more ranks than cores; such rows are marked
  bool bind = true;                ///< ranks to cores
  bool check = true;               ///< let HPL check its result
  double timeout_s = 0;            ///< of one run; 0: none
  std::string mpirun = "mpirun";
  /// Empty: next to the running program, or what HPLCAST_XHPL names (observed: HPLCAST_XHPL_INSTRUMENTED).
  std::filesystem::path xhpl;
  RealObservation observation;  ///< what to keep besides times: then xhpl-instrumented runs
  /// Called when a run starts and about ten times per second: share of the session's flop that is done (0 to 1), the
  /// run.
  std::function<void(double done, const std::string& run)> progress;
  PowerRecorder* power = nullptr;  ///< measures each run; null: nobody does
  /// Called after each run that was measured.
  std::function<void(const core::HplRun& run, const RunEnergy& energy)> measured;
  /// Called after each run of which something is kept.
  std::function<void(const RealActivity& activity)> observed;
};

/// One run of a session.
struct PlannedRun {
  core::HplParameters parameters;
  int repetition = 1;  ///< from 1
};

/// All runs in the order in which they are made: one repetition of every configuration after the other, each in a
/// random order of its own. So drifts of the machine spread over all configurations, and a session that is stopped has
/// about equally many runs of each. @throws core::DomainError for repetitions below 1.
std::vector<PlannedRun> plan_real_runs(const RealRunRequest& request);

/// Result of a session.
struct RealRunSummary {
  std::size_t made = 0;
  std::size_t found = 0;             ///< that the results had already
  std::size_t failed_residuals = 0;  ///< of those made: HPL says that the result is wrong
};

/// Refuses what cannot run, before the first run is made.
/// @throws core::DomainError for more ranks than cores (unless oversubscribed) or a matrix larger than the free memory.
void check(const RealRunRequest& request);

/// Makes the runs that are missing, one at a time: each is added to the results as soon as it has ended, so a session
/// can be stopped at any time and started again.
/// @throws what check() throws; core::ExternalError with the end of the output if a run fails; core::Error if the
/// results belong to another program, or another session is writing them.
RealRunSummary run_real(const RealRunRequest& request);

}  // namespace hplcast::study
