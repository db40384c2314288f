#include "hplcast/fit/findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/common_factor.hpp"
#include "hplcast/fit/run_series.hpp"
#include "track.hpp"

namespace hplcast::fit {

namespace {

void require_valid(const CpuHistory& cpu) {
  const std::size_t runs = cpu.time_s.size();
  if (cpu.value.size() != runs || cpu.outlier.size() != runs || cpu.own_epoch.size() != runs ||
      cpu.ratio_epoch.size() != runs || cpu.common_epoch.size() != runs)
    throw core::DomainError("length of a history", static_cast<double>(cpu.value.size()), "one entry per run");
}

/// The common factor as if it were a CPU: one run per day.
Track common_track(std::size_t factor, const CommonFactor& common, const FactorHistory& history, std::size_t least) {
  Track track;
  track.factor = factor;
  track.cpu = Finding::all_cpus;
  track.against = Against::own;
  std::map<std::int64_t, std::size_t> epochs;
  std::map<std::int64_t, std::int64_t> times;
  for (const CpuHistory& cpu : history.cpus) {
    for (std::size_t i = 0; i < cpu.value.size(); ++i) {
      const std::int64_t day = day_of(cpu.time_s[i]);
      times[day] = std::max(times[day], cpu.time_s[i]);
      epochs[day] = std::max(epochs[day], cpu.common_epoch[i]);
    }
  }
  std::size_t epoch = 0;
  for (const auto& [day, value] : common.of_day) {
    if (common.cpus_of_day.at(day) < least) continue;
    track.time_s.push_back(times.at(day));
    track.runs.values.push_back(value);
    track.runs.outlier.push_back(false);
    track.runs.epoch.push_back(epoch = std::max(epoch, epochs.at(day)));
  }
  return track;
}

/// Without the days that have too few CPUs to say what they have in common.
Track ratio_track(const CpuHistory& cpu, const std::vector<double>& ratios, const CommonFactor& common,
                  std::size_t least) {
  Track track;
  track.against = Against::cluster;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (common.cpus_of_day.at(day_of(cpu.time_s[i])) < least) continue;
    track.time_s.push_back(cpu.time_s[i]);
    track.runs.values.push_back(ratios[i]);
    track.runs.outlier.push_back(cpu.outlier[i]);
    track.runs.epoch.push_back(cpu.ratio_epoch[i]);
  }
  return track;
}

/// Others, such as coefficients of models, have no ratio.
bool all_positive(const FactorHistory& history) {
  for (const CpuHistory& cpu : history.cpus)
    for (double value : cpu.value)
      if (!(value > 0)) return false;
  return true;
}

void add_tracks(std::size_t factor, const FactorHistory& history, const FindingOptions& options,
                std::vector<Track>& tracks) {
  std::vector<DatedValues> dated;
  for (std::size_t c = 0; c < history.cpus.size(); ++c) {
    const CpuHistory& cpu = history.cpus[c];
    require_valid(cpu);
    if (options.own) {
      Track track{factor, c, Against::own, cpu.time_s, {1, cpu.value, cpu.outlier, cpu.own_epoch}, {}};
      tracks.push_back(std::move(track));
    }
    DatedValues& values = dated.emplace_back();
    values.value = cpu.value;
    for (std::int64_t time_s : cpu.time_s) values.day.push_back(day_of(time_s));
  }
  if (!options.cluster || history.cpus.size() < options.least_cpus || !all_positive(history)) return;
  const CommonFactor common = common_factor(dated);
  for (std::size_t c = 0; c < history.cpus.size(); ++c) {
    Track track = ratio_track(history.cpus[c], common.ratios[c], common, options.least_cpus);
    track.factor = factor;
    track.cpu = c;
    tracks.push_back(std::move(track));
  }
  tracks.push_back(common_track(factor, common, history, options.least_cpus));
}

/// Makes probabilities of what is flagged, each day's corrected over all tests of that day.
void correct_by_day(std::vector<Track>& tracks, const TestsOfDays& tests, Correction correction) {
  std::map<std::int64_t, std::vector<FlaggedRun*>> days;
  for (Track& track : tracks)
    for (auto& window : track.flagged)
      for (auto& [run, flagged] : window) days[day_of(track.time_s[run])].push_back(&flagged);
  for (const auto& [day, list] : days) {
    std::vector<double> probabilities;
    for (const FlaggedRun* one : list)
      probabilities.push_back(f_tail(one->score.statistic, 1, one->score.reference_runs));
    probabilities = corrected(probabilities, tests.at(day), correction);
    for (std::size_t i = 0; i < list.size(); ++i) list[i]->probability = probabilities[i];
  }
}

bool overlap(const Finding& a, const Finding& b) {
  return a.factor == b.factor && a.since_s <= b.last_s && b.since_s <= a.last_s && (a.effect < 0) == (b.effect < 0);
}

/// One finding per event: own ones go where the ratio, or the common factor, says the same.
std::vector<Finding> explained(const std::vector<Finding>& found) {
  std::vector<Finding> result;
  std::map<const Finding*, std::size_t> of_all;
  const auto is_own = [](const Finding& one) { return one.against == Against::own && one.cpu != Finding::all_cpus; };
  const auto is_common = [](const Finding& one) { return one.cpu == Finding::all_cpus; };
  for (const Finding& one : found) {
    if (!is_own(one)) continue;
    bool keep = true;
    for (const Finding& other : found) {
      if (!overlap(one, other)) continue;
      if (other.cpu == one.cpu && other.against == Against::cluster) keep = false;
    }
    for (const Finding& other : found) {
      if (!keep || !is_common(other) || !overlap(one, other)) continue;
      ++of_all[&other];
      keep = false;
    }
    if (keep) result.push_back(one);
  }
  for (const Finding& one : found) {
    if (is_own(one)) continue;
    result.push_back(one);
    if (of_all.count(&one) > 0) result.back().also_cpus = of_all[&one];
  }
  std::stable_sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.factor, a.cpu, a.since_s) < std::tie(b.factor, b.cpu, b.since_s);
  });
  return result;
}

}  // namespace

Findings find_changes(const std::vector<FactorHistory>& factors, const FindingOptions& options) {
  require_valid(options);
  Findings result;
  std::vector<Track> tracks;
  for (std::size_t f = 0; f < factors.size(); ++f) add_tracks(f, factors[f], options, tracks);
  const TestsOfDays tests = score_tracks(tracks, options);
  for (const auto& day : tests) result.counts.tests += day.second;
  correct_by_day(tracks, tests, options.correction);
  std::vector<Finding> found;
  for (const Track& track : tracks) {
    add_findings(track, options, found);
    if (track.against != Against::own || track.cpu == Finding::all_cpus) continue;
    const std::size_t missing = missing_runs(track, options.least_runs);
    if (missing > 0) ++result.counts.newest_untested;
    result.counts.missing_runs = std::max(result.counts.missing_runs, missing);
  }
  result.all = explained(found);
  return result;
}

}  // namespace hplcast::fit
