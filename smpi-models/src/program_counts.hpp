#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "program_times.hpp"

namespace hplcast::smpi_models {

/// Calls of one routine, summed over ranks.
struct RoutineCount {
  std::uint64_t calls = 0;
  std::uint64_t outside_range = 0;  ///< calls whose sizes the model was not fitted on
  double time_s = 0;
  double flop = 0;
  bool has_model = false;
};

struct RegionCount {
  std::uint64_t calls = 0;
  double time_s = 0;  ///< simulated
  bool has_model = false;
};

/// What a program that was observed did in a simulation: `program` of the statistics (docs/use/any-program.md).
struct ProgramCounts {
  std::map<std::string, RoutineCount> routines;
  std::map<std::string, RegionCount> regions;
  double messages = 0;            ///< that SMPI sent, those of collectives among them; 0 without the platform library
  double message_bytes = 0;       ///< in them
  double end_s = 0;               ///< when the last rank ended, in its own time
  std::vector<NamedTimes> times;  ///< ProgramTimes::until(); empty if nobody asks
  std::vector<int> unfinished;    ///< ranks that have not come to MPI_Finalize
  double untimed_s = 0;  ///< CPU time of this machine between two reads of a clock that show the same simulated time
  std::uint64_t untimed_intervals = 0;  ///< how often
  double rest_s = 0;  ///< simulated time of code that is neither routine nor region, summed over ranks
};

}  // namespace hplcast::smpi_models
