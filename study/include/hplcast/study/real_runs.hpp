#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/simulation.hpp"

namespace hplcast::study {

/// Records what this host draws while HPL runs. study knows no sensors: cli brings those of calibration.
class PowerRecorder {
 public:
  virtual ~PowerRecorder() = default;
  virtual void begin() = 0;
  /// All samples since begin(), with Unix times.
  virtual std::vector<core::PowerSample> end() = 0;
};

/// Energy of a run of HPL.
struct RunEnergy {
  double energy_j = 0;               ///< 0: not known, and `doubt` says why
  std::vector<std::string> sensors;  ///< that were added up
  double covered = 0;                ///< share of the run with samples, of the sensor that has the least
  std::string doubt;                 ///< for people; empty: none
};

/// From the samples of one host, over the timed part of HPL. A sensor with samples in less than half of it, or fewer
/// than 2, says nothing of the run; below 90 % it is doubtful.
RunEnergy energy_of_run(const std::vector<core::PowerSample>& samples, double begin_unix_s, double end_unix_s);

/// Records to keep of real runs besides their times (docs/use/real-runs.md).
struct RealObservation {
  bool phases = false;
  std::filesystem::path traces;                                   ///< folder for a trace of each run; empty: none
  core::IndexRange ranks = {0, std::numeric_limits<int>::max()};  ///< that are in the traces
  core::IndexRange panels = ranks;                                ///< of which events are in the traces
};

/// Whether anything is to be kept.
inline bool is_observed(const RealObservation& observation) {
  return observation.phases || !observation.traces.empty();
}

/// Calls of one kernel or MPI operation in a real run, over all ranks.
struct RealCalls {
  std::uint64_t calls = 0;
  double time_s = 0;
  double amount = 0;  ///< flop or bytes
};

/// Activity of the ranks of one real run.
struct RealActivity {
  core::HplRun run;
  std::vector<core::PhaseSummary> phases;    ///< as those of a prediction
  std::map<std::string, RealCalls> kernels;  ///< by name, called ones only
  std::map<std::string, RealCalls> messages;
  double known_waiting = 1;  ///< share of the time in calls that block of which waiting was measured, 0 to 1
  double overhead = 0;       ///< of keeping all this: share of the time of the rank with the most
  std::vector<std::string> warnings;
};

/// Environment variables that tell xhpl-instrumented what to keep.
std::map<std::string, std::string> activity_environment(const RealObservation& observation,
                                                        const std::filesystem::path& folder, int ranks);

/// Reads what the ranks of a run wrote into `folder`, writes phases.csv and phases.json beside it, and the trace
/// (empty: none). @throws core::Error (bad_input) for ranks without a file, files of several runs or of another
/// one than `run`; core::ParseError for files that are cut off.
RealActivity read_real_activity(const std::filesystem::path& folder, const core::HplRun& run,
                                const RealObservation& observation, const std::filesystem::path& trace);

/// A session of real HPL runs.
struct RealRunRequest {
  std::vector<core::HplParameters> configurations;  ///< without repetitions of one configuration
  int repetitions = 3;
  std::uint64_t seed = 1;         ///< of the order of the runs
  std::filesystem::path results;  ///< the CSV that runs are added to; runs that it has are not made again
  std::filesystem::path outputs;  ///< folder for HPL.dat and output of each run; empty: `results` + ".d"
  core::MpiLaunch launch;         ///< of each run, but for its ranks; rows of ranks that share cores are marked
  bool check = true;              ///< let HPL check its result
  double timeout_s = 0;           ///< of one run; 0: none
  /// Empty: next to the running program, or what HPLCAST_XHPL names (observed: HPLCAST_XHPL_INSTRUMENTED).
  std::filesystem::path xhpl;
  std::filesystem::path control;  ///< hplcast-measure-dgemm, which measures the control around each run; empty: nobody
  RealObservation observation;    ///< what to keep besides times: then xhpl-instrumented runs
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
  bool has_control = false;          ///< the file has the control of its runs
  std::size_t failed_residuals = 0;  ///< of those made: HPL says that the result is wrong
};

/// How many hosts a hostfile of mpirun names. @throws core::ParseError for none.
int hosts_in(const std::filesystem::path& hostfile);

/// Records of the hosts of `launch` (docs/use/doctor.md#record) in a folder that is made. `program`:
/// hplcast-measure-dgemm. @throws core::ExternalError
void record_hosts(const core::MpiLaunch& launch, const std::filesystem::path& program,
                  const std::filesystem::path& folder);

/// The control measurement now, on the ranks of `launch`; its rows are in `file`, too. `program`:
/// hplcast-measure-dgemm.
/// @throws core::ExternalError
core::ControlRows measured_control(const core::MpiLaunch& launch, const std::filesystem::path& program,
                                   const std::filesystem::path& file);

/// Refuses what cannot run, before the first run is made.
/// @throws core::DomainError for more ranks and their threads than cores (unless oversubscribed) or a matrix larger
/// than the free memory.
void check(const RealRunRequest& request);

/// Makes the runs that are missing, one at a time: each is added to the results as soon as it has ended, so a session
/// can be stopped at any time and started again.
/// @throws what check() throws; core::ExternalError with the end of the output if a run fails; core::Error if the
/// results belong to another program, or another session is writing them.
RealRunSummary run_real(const RealRunRequest& request);

}  // namespace hplcast::study
