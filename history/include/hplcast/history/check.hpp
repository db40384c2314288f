#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/common_factor.hpp"
#include "hplcast/fit/findings.hpp"
#include "hplcast/fit/run_series.hpp"
#include "hplcast/history/history_database.hpp"

namespace hplcast::history {

struct CheckOptions {
  fit::FindingOptions tests;
  std::string cluster;                            ///< empty: all of the history
  std::vector<std::string> factors;               ///< empty: those that are meant to be checked (known_factors())
  std::optional<std::int64_t> until_s;            ///< as if it were that time
  bool use_changes = true;                        ///< false: no logged change begins a new reference
  std::int64_t missing_after_s = 7 * fit::day_s;  ///< a host is missed if the cluster was measured so long without it
};

/// A finding in the words of the history.
struct HistoryFinding {
  std::string cluster;
  Place place;  ///< an empty host: all of the cluster
  std::string factor;
  fit::Finding finding;
  std::optional<Change> nearest;       ///< logged change of it within 30 days of its beginning
  std::optional<std::int64_t> told_s;  ///< newest campaign of the recorded check that told it first
};

/// For people: "2e-06"; "< 1e-99".
std::string probability_text(double probability);
/// "-4.8 %".
std::string effect_text(double effect);

/// A host without results. A change that names it, of the day that it was last asked or later, explains that.
struct MissingHost {
  std::string cluster, host;
  std::int64_t answered_s = 0;     ///< of its last campaign with a result; 0: none
  std::int64_t asked_s = 0;        ///< of the last campaign that it took part in
  bool did_not_come_back = false;  ///< it was to measure and gave no result; else: it took no part for long
  std::optional<std::int64_t> told_s;
};

/// Findings that have one cause, as far as one can see: about one CPU, its host, or all CPUs, begun within a week.
struct FindingEvent {
  std::size_t first = 0;          ///< index of the finding about the first of the factors
  std::vector<std::size_t> also;  ///< indices of the others
};

struct HistoryCheck {
  std::vector<HistoryFinding> findings;  ///< open and past ones
  std::vector<MissingHost> missing;
  fit::FindingCounts counts;
  std::size_t campaigns = 0;
  std::optional<std::int64_t> newest_s;  ///< of the newest campaign
  std::vector<std::string> notes;        ///< what could not be tested, and what that would need

  std::size_t open() const;                  ///< findings that the newest run shows, and missing hosts
  std::vector<FindingEvent> events() const;  ///< all findings, the open ones apart from the past ones
  std::vector<Verdict> verdicts() const;     ///< what is open, to be recorded
};

/// The others of an event: "frequency_ghz -4.7 %", "temperature_celsius +11.0 % (host)".
std::vector<std::string> also_texts(const HistoryCheck& check, const FindingEvent& event);

/// @throws core::Error (bad_input) for an empty history, or one that begins after `until_s`, a cluster or factors that
/// it does not have, and what fit::find_changes() throws.
HistoryCheck check_history(const HistoryDatabase& database, const CheckOptions& options);

/// How many runs the tests flag, run by run, in our way or in the published one: to compare with published numbers.
struct FlagCounts {
  std::string cluster, factor;  ///< names with commas if they were tested together
  std::size_t rows = 0, tested = 0, below = 0, above = 0, outside = 0;
  std::size_t logged = 0;  ///< flagged ones that are logged outliers
};
struct CountOptions {
  CheckOptions check;
  std::size_t window = 1;
  bool published = true;  ///< fit::published_scores() instead of fit::RunTests
  std::size_t keep = 5;
  bool together = false;  ///< all factors as one vector
};
std::vector<FlagCounts> count_flags(const HistoryDatabase& database, const CountOptions& options);

}  // namespace hplcast::history
