#include "track.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "run_series_checks.hpp"

namespace hplcast::fit {

namespace {

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

/// The first run of a deviation that only a window has found: where a step from `expected` to the mean of what follows
/// has the least squares.
std::size_t first_run(const Track& track, std::size_t window_begin, std::size_t mark, double expected) {
  std::size_t best = mark;
  double most = -1;
  for (std::size_t begin = window_begin; begin <= mark; ++begin) {
    double sum = 0, count = 0;
    for (std::size_t i = begin; i <= mark; ++i) {
      if (track.runs.outlier[i]) continue;
      sum += track.runs.values[i] - expected;
      ++count;
    }
    if (count > 0 && sum * sum / count > most) {
      most = sum * sum / count;
      best = begin;
    }
  }
  return best;
}

std::size_t newest_run(const Track& track) {
  std::size_t newest = track.runs.runs();
  while (newest > 0 && track.runs.outlier[newest - 1]) --newest;
  return newest;  // one past it
}

Finding finding_of(const Track& track, const std::vector<Mark>& marks, const Episode& episode) {
  const std::size_t mark = episode.runs.front();
  const RunScore& score = marks[mark].score;
  const std::size_t first = marks[mark].alone ? mark : first_run(track, marks[mark].first, mark, score.expected);
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
  const std::size_t last = one.open ? newest - 1 : episode.runs.back();
  one.last_s = track.time_s[last];
  one.observed = mean_between(track, first, last, count);
  one.effect = (one.observed - one.expected) / std::abs(one.expected);
  one.effect_error = score.sd * interval_factor(0.95, score.reference_runs, count) / std::abs(one.expected);
  one.probability = episode.probability;
  return one;
}

}  // namespace

void require_valid(const FindingOptions& options) {
  if (options.windows.empty()) throw core::DomainError("windows", "none", "one at least");
  for (std::size_t window : options.windows)
    require_valid_test(options.confidence, window, options.least_runs, options.least_sd);
  if (!std::is_sorted(options.windows.begin(), options.windows.end()))
    throw core::DomainError("windows", "falling", "rising numbers");
  if (!(options.least_effect >= 0)) throw core::DomainError("least effect", options.least_effect, "a number >= 0");
  if (options.repeated < 1) throw core::DomainError("repeated", 0.0, "a number >= 1");
  if (options.least_cpus < 2)
    throw core::DomainError("least number of CPUs", static_cast<double>(options.least_cpus), "a number >= 2");
}

TestsOfDays score_tracks(std::vector<Track>& tracks, const FindingOptions& options) {
  TestsOfDays tests_of_days;
  RunTests alone({options.confidence, 1, options.least_runs, options.least_sd});
  std::vector<RunTests> tests;
  for (std::size_t window : options.windows)
    tests.emplace_back(RunTestOptions{options.confidence, window, options.least_runs, options.least_sd});
  for (Track& track : tracks) {
    const auto single = alone.scores(track.runs);
    std::vector<bool> flagged;
    for (const RunScore& score : single) flagged.push_back(is_flagged(score.region));
    for (std::size_t w = 0; w < tests.size(); ++w) {
      const auto scores = options.windows[w] == 1 ? single : tests[w].scores(track.runs, flagged);
      auto& kept = track.flagged.emplace_back();
      for (std::size_t i = 0; i < scores.size(); ++i) {
        if (scores[i].region != Region::untested && !track.runs.outlier[i]) ++tests_of_days[day_of(track.time_s[i])];
        if (is_flagged(scores[i].region) && !track.runs.outlier[i]) kept[i].score = scores[i];
      }
    }
  }
  return tests_of_days;
}

void add_findings(const Track& track, const FindingOptions& options, std::vector<Finding>& found) {
  const auto marks = marks_of(track, options);
  for (const Episode& episode : episodes_of(track, marks)) {
    const bool confirmed = episode.window || episode.alone_in_a_row >= options.repeated;
    if (!confirmed || episode.probability > 1 - options.confidence) continue;
    const Finding one = finding_of(track, marks, episode);
    if (std::abs(one.effect) >= options.least_effect) found.push_back(one);
  }
}

std::size_t missing_runs(const Track& track, std::size_t least_runs) {
  const std::size_t newest = newest_run(track);
  if (newest == 0) return least_runs + 1;
  std::size_t same = 0;
  for (std::size_t i = 0; i < newest; ++i)
    if (track.runs.epoch[i] == track.runs.epoch[newest - 1] && !track.runs.outlier[i]) ++same;
  return same > least_runs ? 0 : least_runs + 1 - same;
}

}  // namespace hplcast::fit
