#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/calibration/topology.hpp"

namespace hplcast::calibration {

/// How detours are looked for.
enum class GapMethod {
  gaps,  ///< a loop reads the clock; what is longer than the shortest loop and a threshold is a detour
  fwq,   ///< fixed work quantum: how long the same work takes
  ftq    ///< fixed time quantum: how much work is done in the same time
};

struct GapOptions {
  GapMethod method = GapMethod::gaps;
  double for_s = 10;                             ///< of watching
  double threshold_s = 1e-6;                     ///< gaps: beyond the shortest loop
  double quantum_s = 1e-3;                       ///< fwq, ftq
  double slice_s = 10;                           ///< after which rows are written, and nobody watches
  std::size_t most_rows = std::size_t{1} << 17;  ///< that a core keeps; then its slice ends
  std::vector<CorePlace> cores;
  std::string host;
  std::function<void(double fraction)> progress;  ///< between slices
};

/// What was found on a core.
struct GapRow {
  int core = 0;
  double watched_s = 0;
  double lost_s = 0;  ///< ftq: of the work; gaps: of all detours; fwq: beyond the quickest work
  long events = 0;    ///< gaps: detours; else quanta
  double longest_s = 0;
  double unit_s = 0;       ///< the shortest loop, quantum or unit of work
  double waited_s = 0;     ///< in which the system had the thread wait, as its processor time says
  double speed_drift = 0;  ///< largest / least speed of a fixed computation before and after slices - 1
};

struct GapReport {
  std::vector<GapRow> rows;
  std::vector<std::string> warnings;
};

/// @throws core::DomainError for values outside their domain, no cores.
void validate(const GapOptions& options);

/// Watches all cores at once, one pinned thread each, and streams the rows of docs/formats/measurements-csv.md
/// (core::write_row()) with their header. Memory: most_rows rows of each core.
/// @throws core::DomainError as validate(), core::Error (bad_input) for a core that this process may not be pinned to,
/// or a clock that is too coarse for the threshold.
GapReport measure_gaps(const GapOptions& options, std::ostream& out);

}  // namespace hplcast::calibration
