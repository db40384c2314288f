#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/fit/findings.hpp"
#include "hplcast/study/history.hpp"
#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

struct CheckOptions {
  fit::FindingOptions tests;
  std::string cluster;                             ///< empty: all of the history
  std::vector<std::string> factors;                ///< empty: those that are meant to be checked (known_factors())
  std::optional<std::int64_t> until_s;             ///< as if it were that time
  bool use_changes = true;                         ///< false: no logged change begins a new reference
  std::int64_t missing_after_s = 7 * core::day_s;  ///< a host is missed if the cluster was measured so long without it
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
  std::size_t campaigns = 0, clusters = 0, tests = 0;
  std::optional<std::int64_t> newest_s;  ///< of the newest campaign
  std::vector<std::string> notes;        ///< what could not be tested, and what that would need

  std::size_t open() const;                     ///< findings that the newest run shows, and missing hosts
  std::vector<FindingEvent> events() const;     ///< all findings, the open ones apart from the past ones
  std::vector<Verdict> verdicts() const;        ///< what is open, to be recorded
  std::string where(const Place& place) const;  ///< with the cluster, if there are several
};

/// The others of an event: "frequency_ghz -4.7 %", "temperature_celsius +11.0 % (host)".
std::vector<std::string> also_texts(const HistoryCheck& check, const FindingEvent& event);

/// "takes no part any more (last on 2025-03-24)".
std::string missing_text(const MissingHost& one);

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
  bool together = false;  ///< all factors as one vector
};
std::vector<FlagCounts> count_flags(const HistoryDatabase& database, const CountOptions& options);

/// The cluster with dgemm of some CPUs at another speed (2: twice as fast; noise keeps its size relative to the
/// duration). `cpu` -1: all CPUs of the host; an empty host: all of the cluster.
/// @throws core::DomainError for a host or CPU that the cluster does not have, a factor that is not positive, or a
/// cluster without a model of dgemm.
core::ClusterModel with_cpu_speed(const core::ClusterModel& cluster, const std::string& host, int cpu, double factor);

/// P and Q of a grid of at most `ranks` ranks, at least a third as high as wide, as large and then as square as
/// possible.
std::pair<int, int> grid_of(int ranks);

struct CostOptions {
  core::HplParameters parameters;
  std::vector<std::uint64_t> seeds = {1, 2, 3};  ///< the same random numbers for all clusters that are compared
  int jobs = 1;
  SimulationMode mode = SimulationMode::automatic;
  SimulatorPrograms programs;
};

/// Performance of HPL on one state of the cluster.
struct Scenario {
  core::HplParameters parameters;  ///< a grid of its own where a host is left out
  std::vector<double> gflops;      ///< by seed
  double effect = 0;               ///< mean ratio to the normal cluster - 1, seed by seed
  double effect_error = 0;         ///< half a 95 % interval: seeds, and that of the finding itself
};

struct Cost {
  std::string factor;                     ///< that was taken for the speed of CPUs
  std::vector<std::string> kept_kernels;  ///< whose models are the same everywhere: findings change dgemm alone
  std::vector<double> normal_gflops;
  Scenario now;  ///< all findings at once
  struct OfHost {
    std::string host;
    std::string what;                ///< its findings: "CPU 0 -4.8 %"
    Scenario alone;                  ///< a cluster on which only this host has changed
    Scenario without;                ///< all findings, this host left out
    std::string not_without;         ///< why not, if that cannot be: the matrix, or the topology
    bool pays_to_leave_out = false;  ///< by half a percent at least, and more than the errors
  };
  std::vector<OfHost> hosts;  ///< those with the largest effects, at most ten
};

/// Whether an open finding is about the speed of CPUs.
bool has_cost(const HistoryCheck& check);

/// Predicts HPL on the normal cluster and on what the open findings have made of it. Speeds are those of dgemm_gflops
/// or, if the history has none, frequency_ghz. `normal`: the models without the findings.
/// @throws core::Error (bad_input) if no open finding is about the speed of a CPU, or its hosts are not in the cluster,
/// and what study::predict() throws.
Cost cost_of(const HistoryCheck& check, const core::ClusterModel& normal, const CostOptions& options);

/// Models as they were without the open findings, from models that were fitted while they lasted.
core::ClusterModel without_findings(const HistoryCheck& check, const core::ClusterModel& now);

/// The newest models that the history has of a cluster (empty: its only one), without the open findings.
/// @throws core::Error (bad_input) if it has none.
core::ClusterModel normal_cluster(const HistoryDatabase& database, const HistoryCheck& check,
                                  const std::string& cluster);

/// How many pages a site has, and how large the largest is.
struct SiteSize {
  std::size_t pages = 0;
  std::size_t largest_bytes = 0;
};

/// Writes a history as static pages into a folder, which is made if it is missing: what needs attention (index.html),
/// hosts over days per factor, and a page per host. No scripts, nothing from elsewhere; light or dark as the reader's
/// machine has it. @throws core::Error (bad_input) for an empty history or a folder that cannot be written.
SiteSize write_site(const HistoryDatabase& database, const CheckOptions& options, const std::filesystem::path& folder);

}  // namespace hplcast::study
