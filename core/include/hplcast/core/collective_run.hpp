#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace hplcast::core {

/// A timed series of one collective operation, beside a source of detours or without one.
struct CollectiveRun {
  std::string operation;  ///< barrier, allreduce, alltoall
  double size_bytes = 0;  ///< of a message
  long count = 0;         ///< of calls
  long ranks = 0, hosts = 0;
  double level = 0;       ///< share of the time that the source was to take; 0: it did not run
  double duty = 0;        ///< what it took
  double period_s = 0;    ///< of the source
  bool warm_up = false;   ///< set aside
  double duration_s = 0;  ///< of the whole series
  double start_s = 0;
};

/// Header line, without newline.
extern const char* const collective_csv_header;
void write_row(std::ostream& out, const CollectiveRun& run);

/// Calls `each` for every row without an error. Required: level and duration_s; further columns may be there.
/// @throws ParseError for a missing column, a duration that is not positive, a level outside [0, 1).
void read_collective_csv(std::istream& in, const std::string& name,
                         const std::function<void(const CollectiveRun&)>& each);

}  // namespace hplcast::core
