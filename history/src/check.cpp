#include "hplcast/history/check.hpp"

#include <algorithm>

#include "finding_events.hpp"
#include "hplcast/core/errors.hpp"
#include "loaded_factor.hpp"

namespace hplcast::history {

namespace {

/// Whether a logged change names the host and tells why it is missing since the day that it was last asked.
bool is_explained(const MissingHost& host, const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return fit::day_of(change.time_s) >= fit::day_of(host.asked_s) && change.hosts != "all" &&
           list_names(change.cluster, host.cluster) && list_names(change.hosts, host.host);
  });
}

/// Hosts that gave no result when they were asked, or that nobody asked for long.
void add_missing(const HistoryDatabase& database, const std::string& cluster, const CheckOptions& options,
                 HistoryCheck& check) {
  if (options.until_s) return;  // the history does not say what was missing at another time
  const auto hosts = database.host_times(cluster);
  const auto changes = options.use_changes ? database.changes() : std::vector<Change>();
  std::int64_t newest_s = 0;
  for (const auto& [host, times] : hosts) newest_s = std::max(newest_s, times.asked_s);
  for (const auto& [host, times] : hosts) {
    const MissingHost one{cluster, host, times.answered_s, times.asked_s, times.asked_s > times.answered_s, {}};
    const bool is_missing = one.did_not_come_back || newest_s - times.asked_s > options.missing_after_s;
    if (is_missing && !is_explained(one, changes)) check.missing.push_back(one);
  }
}

void add_notes(const std::vector<LoadedFactor>& loaded, const CheckOptions& options, HistoryCheck& check) {
  std::size_t series = 0, few = 0;
  for (const LoadedFactor& factor : loaded) {
    series += factor.places.size();
    if (factor.places.size() < options.tests.least_cpus) ++few;
  }
  if (check.counts.newest_untested > 0) {
    check.notes.push_back("not tested: the newest runs of " + std::to_string(check.counts.newest_untested) + " of " +
                          std::to_string(series) + " CPUs and factors; the one that lacks most needs " +
                          std::to_string(check.counts.missing_runs) + " more campaigns");
  }
  if (few == loaded.size() && options.tests.cluster && !loaded.empty()) {
    check.notes.push_back("too few CPUs to compare with each other (" + std::to_string(options.tests.least_cpus) +
                          " are needed): each was compared with its own earlier runs");
  }
}

}  // namespace

HistoryCheck check_history(const HistoryDatabase& database, const CheckOptions& options) {
  const FactorLoader loader(database, options);
  HistoryCheck check;
  for (const StoredCampaign& one : database.campaigns()) {
    if (options.until_s && one.start_s > *options.until_s) continue;
    if (!options.cluster.empty() && one.cluster != options.cluster) continue;
    ++check.campaigns;
    check.newest_s = std::max(check.newest_s.value_or(one.start_s), one.start_s);
  }
  const auto clusters = loader.clusters();
  if (check.campaigns == 0)
    throw core::Error(core::ExitCode::bad_input, "the history has no campaign until " + date_text(*options.until_s));
  for (const std::string& cluster : clusters) {
    std::vector<LoadedFactor> loaded;
    std::vector<fit::FactorHistory> histories;
    for (const std::string& name : loader.factors()) {
      LoadedFactor factor = loader.load(cluster, name);
      if (factor.places.empty()) continue;
      histories.push_back(std::move(factor.history));
      loaded.push_back(std::move(factor));
    }
    const fit::Findings found = fit::find_changes(histories, options.tests);
    for (const fit::Finding& one : found.all) {
      const LoadedFactor& factor = loaded[one.factor];
      const Place place = one.cpu == fit::Finding::all_cpus ? Place{cluster, "", -1} : factor.places[one.cpu];
      check.findings.push_back({cluster, place, factor.factor, one, loader.nearest_change(place, one.since_s), {}});
    }
    check.counts.tests += found.counts.tests;
    check.counts.newest_untested += found.counts.newest_untested;
    check.counts.missing_runs = std::max(check.counts.missing_runs, found.counts.missing_runs);
    add_notes(loaded, options, check);
    add_missing(database, cluster, options, check);
  }
  add_told(database.verdicts(), check);
  return check;
}

}  // namespace hplcast::history
