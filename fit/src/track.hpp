#pragma once

#include <map>
#include <vector>

#include "hplcast/fit/common_factor.hpp"
#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"

namespace hplcast::fit {

struct FlaggedRun {
  RunScore score;
  double probability = 1;  ///< corrected for all tests of its day
};

/// Number of tests by day.
using TestsOfDays = std::map<std::int64_t, std::size_t>;

/// One series that is tested: a CPU's own runs, its ratio to the others, or what all have in common.
struct Track {
  std::size_t factor = 0;
  std::size_t cpu = 0;
  Against against = Against::own;
  std::vector<std::int64_t> time_s;
  RunSeries runs;
  std::vector<std::map<std::size_t, FlaggedRun>> flagged = {};  ///< per window of the options, by run
};

/// @throws core::DomainError for options outside their domain.
void require_valid(const FindingOptions& options);

/// Fills in what is flagged, and counts the tests. The runs that are flagged alone enter no reference.
TestsOfDays score_tracks(std::vector<Track>& tracks, const FindingOptions& options);

/// Adds what a track shows.
void add_findings(const Track& track, const FindingOptions& options, std::vector<Finding>& found);

/// How many runs the newest run lacks for a test; 0: none.
std::size_t missing_runs(const Track& track, std::size_t least_runs);

}  // namespace hplcast::fit
