#include "hplcast/fit/findings.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

void require_valid(const DatedValues& cpu) {
  core::require(cpu.day.size() == cpu.value.size(), "length of days", cpu.day.size(), "one per value");
  for (double value : cpu.value)
    if (!(std::isfinite(value) && value > 0)) throw core::DomainError("value of a run", value, "a finite number > 0");
}

std::int64_t day_of(const CpuHistory& cpu, std::size_t run) {
  return cpu.day.empty() ? core::day_of(cpu.time_s[run]) : cpu.day[run];
}

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

constexpr std::size_t least_gap = 3;  // fewer runs inside than that between two flagged ones end nothing

/// A run that a test says is off: alone, or as the end of a window that is.
struct Mark {
  bool alone = false;
  bool window = false;
  Region side = Region::inside;
  double probability = 1;
  std::size_t first = 0;  ///< first run of the longest window that marks it
  RunScore score;         ///< of the shortest
};

/// Whether the last run of a window still shows what the window shows: after a repair four bad runs are in a window of
/// five, but the last one is back.
bool still_there(const Track& track, std::size_t run, const RunScore& score) {
  constexpr double least_share = 0.25;
  const double window = score.observed - score.expected;
  return (track.runs.values[run] - score.expected) / window >= least_share;
}

/// The first run of the window that ends with a run.
std::size_t window_begin(const Track& track, std::size_t run, std::size_t window) {
  for (std::size_t count = 1; count < window && run > 0;) {
    --run;
    if (!track.runs.outlier[run]) ++count;
  }
  return run;
}

std::vector<Mark> marks_of(const Track& track, const FindingOptions& options) {
  std::vector<Mark> marks(track.runs.runs());
  for (std::size_t w = 0; w < track.flagged.size(); ++w) {
    const std::size_t window = options.windows[w];
    for (const auto& [run, flagged] : track.flagged[w]) {
      const RunScore& score = flagged.score;
      if (window > 1 && (!score.without_worst || !still_there(track, run, score))) continue;
      Mark& mark = marks[run];
      const bool is_first = !is_flagged(mark.side);
      if (!is_first && mark.side != score.region) continue;
      (window == 1 ? mark.alone : mark.window) = true;
      if (is_first) mark.score = score;
      mark.score.autocorrelation = std::max(mark.score.autocorrelation, score.autocorrelation);
      mark.first = window_begin(track, run, window);
      mark.side = score.region;
      mark.probability = std::min(mark.probability, flagged.probability);
    }
  }
  return marks;
}

/// A deviation: marks that follow each other on one side.
struct Episode {
  std::vector<std::size_t> runs;  ///< marked ones
  double probability = 1;
  std::size_t alone_in_a_row = 0;
  bool window = false;
};

double mean_between(const Track& track, std::size_t first, std::size_t last, std::size_t& count) {
  double sum = 0;
  count = 0;
  for (std::size_t i = first; i <= last; ++i) {
    if (track.runs.outlier[i]) continue;
    sum += track.runs.values[i];
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

/// Whether the runs from the last mark to `end` leave it open that the deviation lasts: they are not a hundred times as
/// likely without it (both normal, with the standard deviation of the earlier runs).
bool lasts_until(const Track& track, const std::vector<Mark>& marks, const Episode& episode, std::size_t end) {
  const std::size_t last = episode.runs.back();
  std::size_t between = 0, marked = 0;
  const double mean = mean_between(track, last + 1, end - 1, between);
  if (between == 0) return true;
  const RunScore& score = marks[episode.runs.front()].score;
  const double shift = (mean_between(track, episode.runs.front(), last, marked) - score.expected) / score.sd;
  const double since = (mean - score.expected) / score.sd;
  return static_cast<double>(between) * shift * (shift / 2 - since) < std::log(100.0);
}

std::vector<Episode> episodes_of(const Track& track, const std::vector<Mark>& marks) {
  std::vector<Episode> episodes;
  std::size_t row = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (track.runs.outlier[i]) continue;
    const Mark& mark = marks[i];
    if (!is_flagged(mark.side)) {
      row = 0;
      continue;
    }
    const auto follows = [&](const Episode& before) {
      const std::size_t last = before.runs.back();
      return marks[last].side == mark.side && track.runs.epoch[last] == track.runs.epoch[i] &&
             (i - last <= least_gap || lasts_until(track, marks, before, i));
    };
    const bool goes_on = !episodes.empty() && follows(episodes.back());
    if (!goes_on) {
      episodes.emplace_back();
      row = 0;
    }
    Episode& episode = episodes.back();
    episode.runs.push_back(i);
    episode.probability = std::min(episode.probability, mark.probability);
    row = mark.alone ? row + 1 : 0;
    episode.alone_in_a_row = std::max(episode.alone_in_a_row, row);
    episode.window = episode.window || mark.window;
  }
  return episodes;
}

/// How far from its run `from` a deviation reaches towards `to`: as far as a step from `expected` to the mean of these
/// runs has the least squares. Its first run if only a window has found it; its last one if it has ended.
std::size_t end_of_step(const Track& track, std::size_t from, std::size_t to, double expected) {
  std::size_t best = from;
  double most = -1, sum = 0, count = 0;
  for (std::size_t i = from;; i = from < to ? i + 1 : i - 1) {
    if (!track.runs.outlier[i]) sum += track.runs.values[i] - expected, ++count;
    if (!track.runs.outlier[i] && sum * sum / count > most) {
      most = sum * sum / count;
      best = i;
    }
    if (i == to) return best;
  }
}

std::size_t newest_run(const Track& track) {
  std::size_t newest = track.runs.runs();
  while (newest > 0 && track.runs.outlier[newest - 1]) --newest;
  return newest;  // one past it
}

Finding finding_of(const Track& track, const std::vector<Mark>& marks, const Episode& episode) {
  const std::size_t mark = episode.runs.front();
  const RunScore& score = marks[mark].score;
  const std::size_t first = marks[mark].alone ? mark : end_of_step(track, mark, marks[mark].first, score.expected);
  Finding one;
  one.factor = track.factor;
  one.cpu = track.cpu;
  one.against = track.against;
  one.since_s = track.time_s[first];
  const std::size_t newest = newest_run(track);
  one.open = track.runs.epoch[newest - 1] == track.runs.epoch[episode.runs.back()] &&
             lasts_until(track, marks, episode, newest);
  one.runs = episode.runs.size();
  one.reference_runs = score.reference_runs;
  one.expected = score.expected;
  std::size_t count = 0;
  const std::size_t last = one.open ? newest - 1 : end_of_step(track, first, episode.runs.back(), score.expected);
  one.last_s = track.time_s[last];
  one.observed = mean_between(track, first, last, count);
  one.effect = (one.observed - one.expected) / std::abs(one.expected);
  const double n = static_cast<double>(score.reference_runs), runs = static_cast<double>(count),
               a = score.autocorrelation;
  const double variance = variance_inflation(a) / n + variance_inflation(a, runs) / runs;
  one.effect_error = score.sd * std::sqrt(variance * f_limit(0.95, 1, score.reference_runs)) / std::abs(one.expected);
  one.probability = episode.probability;
  return one;
}

/// One for each window, and one for single runs behind them.
std::vector<RunTests> tests_of(const FindingOptions& options) {
  if (options.windows.empty()) throw core::DomainError("windows", "none", "one at least");
  std::vector<RunTests> tests;
  for (std::size_t window : options.windows)
    tests.emplace_back(RunTestOptions{options.confidence, window, options.least_runs, options.least_sd});
  tests.emplace_back(RunTestOptions{options.confidence, 1, options.least_runs, options.least_sd});
  core::require(std::is_sorted(options.windows.begin(), options.windows.end()), "windows", "falling", "rising numbers");
  if (!(options.least_effect >= 0)) throw core::DomainError("least effect", options.least_effect, "a number >= 0");
  if (options.repeated < 1) throw core::DomainError("repeated", 0.0, "a number >= 1");
  core::require(options.least_cpus >= 2, "least number of CPUs", options.least_cpus, "a number >= 2");
  return tests;
}

/// Fills in what is flagged, and counts the tests. The runs that are far off alone enter no reference.
TestsOfDays score_tracks(std::vector<Track>& tracks, std::vector<RunTests> tests, const FindingOptions& options,
                         FindingCounts& counts) {
  counts.tests_of_window.resize(options.windows.size());
  TestsOfDays tests_of_days;
  for (Track& track : tracks) {
    const auto single = tests.back().scores(track.runs);
    std::vector<bool> kept_out;
    for (const RunScore& score : single) kept_out.push_back(score.is_kept_out);
    for (std::size_t w = 0; w < options.windows.size(); ++w) {
      const auto scores = options.windows[w] == 1 ? single : tests[w].scores(track.runs, kept_out);
      auto& kept = track.flagged.emplace_back();
      for (std::size_t i = 0; i < scores.size(); ++i) {
        if (scores[i].region != Region::untested && !track.runs.outlier[i])
          ++tests_of_days[core::day_of(track.time_s[i])], ++counts.tests_of_window[w], ++counts.tests;
        if (is_flagged(scores[i].region) && !track.runs.outlier[i]) kept[i].score = scores[i];
      }
    }
  }
  return tests_of_days;
}

/// Adds what a track shows.
void add_findings(const Track& track, const FindingOptions& options, std::vector<Finding>& found) {
  const auto marks = marks_of(track, options);
  for (const Episode& episode : episodes_of(track, marks)) {
    const bool confirmed = episode.window || episode.alone_in_a_row >= options.repeated;
    if (!confirmed || episode.probability > 1 - options.confidence) continue;
    const Finding one = finding_of(track, marks, episode);
    if (std::isfinite(one.effect) && std::abs(one.effect) >= options.least_effect) found.push_back(one);
  }
}

/// How many runs the newest run lacks for a test; 0: none.
std::size_t missing_runs(const Track& track, std::size_t least_runs) {
  const std::size_t newest = newest_run(track);
  if (newest == 0) return least_runs + 1;
  std::size_t same = 0;
  for (std::size_t i = 0; i < newest; ++i)
    if (track.runs.epoch[i] == track.runs.epoch[newest - 1] && !track.runs.outlier[i]) ++same;
  return same > least_runs ? 0 : least_runs + 1 - same;
}

void require_valid(const CpuHistory& cpu) {
  const std::size_t runs = cpu.time_s.size();
  if (cpu.value.size() != runs || cpu.outlier.size() != runs || cpu.own_epoch.size() != runs ||
      cpu.ratio_epoch.size() != runs || cpu.common_epoch.size() != runs || (!cpu.day.empty() && cpu.day.size() != runs))
    throw core::DomainError("length of a history", static_cast<double>(cpu.value.size()), "one entry per run");
}

/// The common factor as if it were a CPU: one run per day.
Track common_track(std::size_t factor, const CommonFactor& common, const FactorHistory& history, std::size_t least) {
  Track track;
  track.factor = factor;
  track.cpu = Finding::all_cpus;
  std::map<std::int64_t, std::pair<std::int64_t, std::size_t>> newest;  // time and epoch by day
  for (const CpuHistory& cpu : history.cpus) {
    for (std::size_t i = 0; i < cpu.value.size(); ++i) {
      auto& [time_s, epoch] = newest[day_of(cpu, i)];
      time_s = std::max(time_s, cpu.time_s[i]);
      epoch = std::max(epoch, cpu.common_epoch[i]);
    }
  }
  std::size_t epoch = 0;
  for (const auto& [day, value] : common.of_day) {
    if (common.cpus_of_day.at(day) < least) continue;
    track.time_s.push_back(newest.at(day).first);
    track.runs.values.push_back(value);
    track.runs.outlier.push_back(false);
    track.runs.epoch.push_back(epoch = std::max(epoch, newest.at(day).second));
  }
  return track;
}

void add_tracks(std::size_t factor, const FactorHistory& history, const FindingOptions& options,
                std::vector<Track>& tracks) {
  for (std::size_t c = 0; c < history.cpus.size(); ++c) {
    const CpuHistory& cpu = history.cpus[c];
    require_valid(cpu);
    if (options.own)
      tracks.push_back({factor, c, Against::own, cpu.time_s, {1, cpu.value, cpu.outlier, cpu.own_epoch}});
  }
  const auto ratios = options.cluster ? ratios_of(history, options.least_cpus) : std::nullopt;
  if (!ratios) return;
  for (std::size_t c = 0; c < history.cpus.size(); ++c) {
    tracks.push_back({factor, c, Against::cluster, {}, ratios->cpus[c].runs});
    Track& track = tracks.back();
    for (const std::size_t place : ratios->cpus[c].places) track.time_s.push_back(history.cpus[c].time_s[place]);
  }
  tracks.push_back(common_track(factor, ratios->common, history, options.least_cpus));
}

/// Makes probabilities of what is flagged, each day's corrected over all tests of that day, and keeps what is
/// significant among them, or so far off alone that it enters no reference: with a confidence of 0.95 every twentieth
/// normal run would be a mark, and findings would hang together for weeks.
void correct_by_day(std::vector<Track>& tracks, const TestsOfDays& tests, const FindingOptions& options) {
  std::map<std::int64_t, std::vector<FlaggedRun*>> days;
  for (Track& track : tracks)
    for (auto& window : track.flagged)
      for (auto& [run, flagged] : window) days[core::day_of(track.time_s[run])].push_back(&flagged);
  for (const auto& [day, list] : days) {
    std::vector<double> probabilities;
    for (const FlaggedRun* one : list)
      probabilities.push_back(f_tail(one->score.statistic, 1, one->score.reference_runs));
    probabilities = corrected(probabilities, tests.at(day), options.correction);
    for (std::size_t i = 0; i < list.size(); ++i) list[i]->probability = probabilities[i];
  }
  for (Track& track : tracks) {
    for (auto& window : track.flagged) {
      for (auto one = window.begin(); one != window.end();) {
        const FlaggedRun& run = one->second;
        one = run.score.is_kept_out || run.probability <= 1 - options.confidence ? std::next(one) : window.erase(one);
      }
    }
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
  for (const Finding& one : found) {
    if (!is_own(one)) continue;
    const auto ratio_too = [&](const Finding& other) {
      return overlap(one, other) && other.cpu == one.cpu && other.against == Against::cluster;
    };
    if (std::any_of(found.begin(), found.end(), ratio_too)) continue;
    const auto common = std::find_if(found.begin(), found.end(), [&](const Finding& other) {
      return other.cpu == Finding::all_cpus && overlap(one, other);
    });
    if (common == found.end()) {
      result.push_back(one);
    } else {
      ++of_all[&*common];
    }
  }
  for (const Finding& one : found) {
    if (is_own(one)) continue;
    result.push_back(one);
    result.back().also_cpus = of_all[&one];
  }
  std::stable_sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.factor, a.cpu, a.since_s) < std::tie(b.factor, b.cpu, b.since_s);
  });
  return result;
}

/// The common factor of each day, of values over the levels of their CPUs.
CommonFactor over_levels(const std::vector<DatedValues>& cpus, const std::vector<double>& levels) {
  std::map<std::int64_t, std::vector<double>> shares_of_day, runs_of_day;
  for (std::size_t c = 0; c < cpus.size(); ++c) {
    for (std::size_t i = 0; i < cpus[c].value.size(); ++i)
      runs_of_day[cpus[c].day[i]].push_back(cpus[c].value[i] / levels[c]);
    if (c + 1 < cpus.size() && cpus[c + 1].goes_on) continue;
    for (const auto& [day, runs] : runs_of_day) shares_of_day[day].push_back(detail::quantile_of(runs, 0.5));
    runs_of_day.clear();
  }
  CommonFactor result;
  for (const auto& [day, shares] : shares_of_day) {
    result.cpus_of_day[day] = shares.size();
    result.of_day[day] = detail::quantile_of(shares, 0.5);
  }
  for (const DatedValues& cpu : cpus) {
    std::vector<double>& ratios = result.ratios.emplace_back(cpu.value);
    for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= result.of_day.at(cpu.day[i]);
  }
  return result;
}

}  // namespace

CommonFactor common_factor(const std::vector<DatedValues>& cpus) {
  std::vector<double> levels;
  for (const DatedValues& cpu : cpus) {
    require_valid(cpu);
    levels.push_back(cpu.value.empty() ? 1 : detail::quantile_of(cpu.value, 0.5));
  }
  // Median polish (Tukey 1977): with an update in the middle of the history, the median of a CPU that missed some days
  // may be of the days before it, and that of another of those after it.
  constexpr int most_rounds = 20;
  constexpr double same_level = 1e-4;
  CommonFactor result = over_levels(cpus, levels);
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (std::size_t c = 0; c < cpus.size(); ++c) {
      if (cpus[c].value.empty()) continue;
      const double level = detail::quantile_of(result.ratios[c], 0.5);
      moved = std::max(moved, std::abs(level / levels[c] - 1));
      levels[c] = level;
    }
    if (moved < same_level) break;
    result = over_levels(cpus, levels);
  }
  return result;
}

std::optional<Ratios> ratios_of(const FactorHistory& history, std::size_t least_cpus) {
  std::vector<DatedValues> parts;  // of CPUs, each with a level of its own: between the changes of the CPU alone
  for (const CpuHistory& cpu : history.cpus) {
    for (std::size_t i = 0; i < cpu.value.size(); ++i) {
      if (!(cpu.value[i] > 0)) return std::nullopt;
      if (i == 0 || cpu.ratio_epoch[i] != cpu.ratio_epoch[i - 1]) parts.emplace_back().goes_on = i > 0;
      parts.back().day.push_back(day_of(cpu, i));
      parts.back().value.push_back(cpu.value[i]);
    }
  }
  if (history.cpus.size() < least_cpus) return std::nullopt;
  Ratios result{common_factor(parts), {}};
  for (const CpuHistory& cpu : history.cpus) {
    RatioRuns& one = result.cpus.emplace_back();
    for (std::size_t i = 0; i < cpu.value.size(); ++i) {
      const std::int64_t day = day_of(cpu, i);
      if (result.common.cpus_of_day.at(day) < least_cpus) continue;
      one.places.push_back(i);
      one.runs.values.push_back(cpu.value[i] / result.common.of_day.at(day));
      one.runs.outlier.push_back(cpu.outlier[i]);
      one.runs.epoch.push_back(cpu.ratio_epoch[i]);
    }
  }
  return result;
}

Findings find_changes(const std::vector<FactorHistory>& factors, const FindingOptions& options) {
  std::vector<RunTests> run_tests = tests_of(options);
  Findings result;
  std::vector<Track> tracks;
  for (std::size_t f = 0; f < factors.size(); ++f) add_tracks(f, factors[f], options, tracks);
  const TestsOfDays tests = score_tracks(tracks, std::move(run_tests), options, result.counts);
  correct_by_day(tracks, tests, options);
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
