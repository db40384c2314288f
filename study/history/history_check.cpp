#include "hplcast/study/history_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "hplcast/core/errors.hpp"
#include "study/history/loaded_factor.hpp"

namespace hplcast::study {

namespace {

bool have_one_cause(const HistoryFinding& a, const HistoryFinding& b) {
  const bool same_place = a.cluster == b.cluster && a.place.host == b.place.host &&
                          (a.place.cpu == b.place.cpu || a.place.cpu < 0 || b.place.cpu < 0);
  return same_place && a.factor != b.factor && a.finding.open == b.finding.open &&
         std::abs(a.finding.since_s - b.finding.since_s) <= 7 * core::day_s;
}

Verdict verdict_of(const HistoryFinding& one, std::int64_t told_s) {
  const fit::Finding& of = one.finding;
  const Place place{one.cluster, one.place.host, one.place.cpu};
  return {told_s, place, one.factor, of.since_s, of.last_s, of.effect, of.effect_error, of.probability};
}

Verdict verdict_of(const MissingHost& one, std::int64_t told_s) {
  return {told_s, {one.cluster, one.host, -1}, Verdict::missing, one.answered_s, one.answered_s, 0, 0, 0};
}

/// The same thing, seen by another check: since then it may have grown, or its beginning be seen better.
bool is_of(const Verdict& a, const Verdict& b) {
  return a.place == b.place && a.factor == b.factor && a.since_s <= b.last_s && b.since_s <= a.last_s &&
         (a.effect < 0) == (b.effect < 0);
}

/// Fills in which recorded check told findings and missing hosts first. Verdicts of checks after `until_s` do not
/// count; one of several clusters is of the newest campaign of them all.
void add_told(const std::vector<Verdict>& verdicts, std::optional<std::int64_t> until_s, HistoryCheck& check) {
  const auto told = [&](const Verdict& what) -> std::optional<std::int64_t> {
    for (const Verdict& one : verdicts)  // earlier ones first
      if (one.told_s <= until_s.value_or(one.told_s) && is_of(one, what)) return one.told_s;
    return std::nullopt;
  };
  for (HistoryFinding& one : check.findings) one.told_s = told(verdict_of(one, 0));
  for (MissingHost& one : check.missing) one.told_s = told(verdict_of(one, 0));
}

/// Whether a logged change names the host and tells why it is missing since the day that it was last asked.
bool is_explained(const MissingHost& host, const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return core::day_of(change.time_s) >= core::day_of(host.asked_s) && change.hosts != "all" &&
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

/// Tells of a cluster which of its runs could not be tested.
void add_notes(const std::vector<LoadedFactor>& loaded, const fit::FindingCounts& counts, const CheckOptions& options,
               const std::string& cluster, HistoryCheck& check) {
  const std::string of = check.clusters > 1 ? cluster + ": " : "";
  std::size_t series = 0, few = 0;
  for (const LoadedFactor& factor : loaded) {
    series += factor.places.size();
    if (factor.places.size() < options.tests.least_cpus) ++few;
  }
  if (counts.newest_untested > 0)
    check.notes.push_back(of + "not tested: the newest runs of " + std::to_string(counts.newest_untested) + " of " +
                          std::to_string(series) + " CPUs and factors; the one that lacks most needs " +
                          std::to_string(counts.missing_runs) + " more campaigns");
  for (std::size_t w = 0; w < options.tests.windows.size(); ++w)
    if (counts.tests_of_window[w] == 0 && counts.newest_untested < series)
      check.notes.push_back(of + "not tested: windows of " + std::to_string(options.tests.windows[w]) +
                            ", for which no CPU and factor has enough runs since the last change");
  if (few == loaded.size() && options.tests.cluster && !loaded.empty())
    check.notes.push_back(of + "too few CPUs to compare with each other (" + std::to_string(options.tests.least_cpus) +
                          " are needed): each was compared with its own earlier runs");
}

}  // namespace

std::string probability_text(double probability) {
  return probability < 1e-99 ? "< 1e-99" : core::printed("%.0e", probability);
}

std::size_t HistoryCheck::open() const {
  return missing.size() + static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                                 [](const auto& one) { return one.finding.open; }));
}

std::vector<FindingEvent> HistoryCheck::events() const {
  std::vector<FindingEvent> events;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const auto same = std::find_if(events.begin(), events.end(), [&](const FindingEvent& event) {
      return have_one_cause(findings[event.first], findings[i]);
    });
    if (same == events.end())
      events.push_back({i, {}});
    else
      same->also.push_back(i);
  }
  return events;
}

std::vector<std::string> also_texts(const HistoryCheck& check, const FindingEvent& event) {
  std::vector<std::string> texts;
  for (const std::size_t index : event.also) {
    const HistoryFinding& one = check.findings[index];
    std::string text = one.factor + " " + core::signed_percent(one.finding.effect);
    const int cpu = check.findings[event.first].place.cpu;
    if (one.place.cpu != cpu) text += one.place.cpu < 0 ? " (host)" : " (CPU " + std::to_string(one.place.cpu) + ")";
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string missing_text(const MissingHost& one) {
  return (one.did_not_come_back ? "was to measure on " + date_text(one.asked_s) + " and gave no result"
                                : "takes no part any more") +
         (one.answered_s == 0 ? " (never" : " (last on " + date_text(one.answered_s)) +
         (one.told_s ? "; first told on " + date_text(*one.told_s) : "") + ")";
}

std::vector<Verdict> HistoryCheck::verdicts() const {
  std::vector<Verdict> result;
  for (const HistoryFinding& one : findings)
    if (one.finding.open) result.push_back(verdict_of(one, newest_s.value_or(0)));
  for (const MissingHost& one : missing) result.push_back(verdict_of(one, newest_s.value_or(0)));
  return result;
}

std::string HistoryCheck::where(const Place& place) const {
  return (clusters > 1 ? place.cluster + ": " : "") + (place.host.empty() ? "all CPUs" : to_string(place));
}

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
  check.clusters = clusters.size();
  if (check.campaigns == 0) throw core::InputError("the history has no campaign until " + date_text(*options.until_s));
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
    check.tests += found.counts.tests;
    add_notes(loaded, found.counts, options, cluster, check);
    add_missing(database, cluster, options, check);
  }
  add_told(database.verdicts(), options.until_s, check);
  return check;
}

// Counts of flagged runs, for comparing with published numbers.
namespace {

/// The runs of a place that have all factors.
fit::RunSeries joined(const std::vector<const fit::CpuHistory*>& factors) {
  fit::RunSeries series;
  series.dimensions = factors.size();
  std::vector<std::map<std::int64_t, double>> others;
  for (std::size_t f = 1; f < factors.size(); ++f) {
    auto& values = others.emplace_back();
    for (std::size_t i = 0; i < factors[f]->value.size(); ++i) values[factors[f]->time_s[i]] = factors[f]->value[i];
  }
  const fit::CpuHistory& first = *factors.front();
  for (std::size_t i = 0; i < first.value.size(); ++i) {
    std::vector<double> run = {first.value[i]};
    for (const auto& values : others)
      if (const auto found = values.find(first.time_s[i]); found != values.end()) run.push_back(found->second);
    if (run.size() != factors.size()) continue;
    series.values.insert(series.values.end(), run.begin(), run.end());
    series.outlier.push_back(first.outlier[i]);
    series.epoch.push_back(first.own_epoch[i]);
  }
  return series;
}

void count(const fit::RunSeries& series, const CountOptions& options, FlagCounts& counts) {
  const fit::FindingOptions& tests = options.check.tests;
  const fit::RunTestOptions each{tests.confidence, options.window, tests.least_runs, tests.least_sd};
  const auto scores = options.published ? fit::published_scores(series, {each}) : fit::RunTests(each).scores(series);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    ++counts.rows;
    if (scores[i].region == fit::Region::untested) continue;
    ++counts.tested;
    counts.below += scores[i].region == fit::Region::below ? 1 : 0;
    counts.above += scores[i].region == fit::Region::above ? 1 : 0;
    counts.outside += scores[i].region == fit::Region::outside ? 1 : 0;
    counts.logged += series.outlier[i] && fit::is_flagged(scores[i].region) ? 1 : 0;
  }
}

}  // namespace

std::vector<FlagCounts> count_flags(const HistoryDatabase& database, const CountOptions& options) {
  const FactorLoader loader(database, options.check);
  std::vector<FlagCounts> result;
  for (const std::string& cluster : loader.clusters()) {
    const auto loaded =
        core::mapped(loader.factors(), [&](const auto& factor) { return loader.load(cluster, factor); });
    std::vector<std::vector<const LoadedFactor*>> groups(options.together ? 1 : loaded.size());
    for (std::size_t i = 0; i < loaded.size(); ++i) groups[options.together ? 0 : i].push_back(&loaded[i]);
    for (const std::vector<const LoadedFactor*>& group : groups) {
      FlagCounts& counts = result.emplace_back();
      counts.cluster = cluster;
      std::map<Place, std::vector<const fit::CpuHistory*>> places;
      for (const LoadedFactor* factor : group) {
        counts.factor += (counts.factor.empty() ? "" : ", ") + factor->factor;
        for (std::size_t i = 0; i < factor->places.size(); ++i)
          places[factor->places[i]].push_back(&factor->history.cpus[i]);
      }
      for (const auto& [place, factors] : places)
        if (factors.size() == group.size()) count(joined(factors), options, counts);
    }
  }
  return result;
}

}  // namespace hplcast::study
