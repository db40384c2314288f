#pragma once

#include <iosfwd>
#include <vector>

#include "hplcast/core/collective_run.hpp"

namespace hplcast::cli {

/// Prints a table of each detector (operation, size, count, ranks) among the runs: clean runs, levels, their 99 %
/// intervals, Welch's p, and the lowest level that is seen; then warnings: levels that the source did not reach, clean
/// runs that changed meanwhile, runs with few periods.
/// @throws core::Error (bad_input) if a detector has fewer than 2 clean runs, or no level.
void print_sensitivity(std::ostream& out, const std::vector<core::CollectiveRun>& runs);

/// The same as JSON.
void write_sensitivity_json(std::ostream& out, const std::vector<core::CollectiveRun>& runs);

}  // namespace hplcast::cli
