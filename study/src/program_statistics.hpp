#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/study/program_run.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// What the runtime of a simulated program wrote into HPLCAST_STATS, as far as it goes into a ProgramRun.
struct ProgramStatistics {
  ProgramRun run;
  bool deadlock = false;
  std::vector<int> unfinished;  ///< ranks that ended without MPI_Finalize
  Statistics counted;           ///< what programs have in common with HPL: phases, energy, ranks that are blocked
};

/// @throws core::ParseError if it is not what the runtime writes.
ProgramStatistics read_program_statistics(std::istream& in, const std::string& name);

}  // namespace hplcast::study
