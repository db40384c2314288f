#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// From the first to the last of them, such as ranks or panels.
struct Range {
  int first = 0;
  int last = std::numeric_limits<int>::max();
};

/// What to keep of real runs besides their times (docs/use/real-runs.md).
struct RealObservation {
  bool phases = false;
  std::filesystem::path traces;  ///< folder for a trace of each run; empty: none
  Range ranks;                   ///< that are in the traces
  Range panels;                  ///< of which events are in the traces
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

/// What the ranks of one real run did.
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

}  // namespace hplcast::study
