#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

/// Energy of a whole run, or the mean of several, as counters read before and after it tell: a row of a table of runs
/// (docs/formats/measurements-csv.md). Hosts on which nothing ran have 0 ranks.
struct RunEnergy {
  Location row;
  std::string configuration;  ///< of runs that are repetitions of each other; empty: of none
  std::string campaign;       ///< in which starting and ending a run costs the same
  int hosts = 1;
  int ranks_per_host = 0;
  double time_s = 0;       ///< of the part that the program times
  double setup_s = 0;      ///< before that, with all ranks busy
  double waiting_s = -1;   ///< of time_s + setup_s, mean over the ranks; below 0: not known
  double energy_j = 0;     ///< of all hosts
  double energy_sd_j = 0;  ///< of single runs; 0: not known
  int runs = 1;            ///< that the row is the mean of
  double wrap_j = 0;       ///< energy after which a counter starts at 0 again; 0: not known
  int wraps = 0;           ///< that were added to energy_j
  double sample_s = 0;     ///< time between two readings of the meter; 0: none, the counters integrate

  double duration_s() const noexcept { return time_s + setup_s; }
};

/// Whether a header (the first line of a CSV) is that of a table of runs, not of samples of power.
bool is_run_table(const std::string& header);

/// All rows. Required: hosts, ranks_per_host, time_s, and energy_j, or NAME_start_j and NAME_end_j of each domain NAME,
/// which are added up: a counter that ends below its start has wrapped.
/// @throws ParseError for a missing column, a row without the reading of a domain that other rows have, a counter that
/// has wrapped where wrap_j is not known, one beyond its range, and numbers that cannot be.
std::vector<RunEnergy> read_run_energies(std::istream& in, const std::string& name);

}  // namespace hplcast::core
