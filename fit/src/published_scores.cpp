#include <algorithm>
#include <cmath>
#include <optional>

#include "hplcast/fit/run_series.hpp"
#include "run_series_checks.hpp"

namespace hplcast::fit {

namespace {

using Runs = std::vector<std::size_t>;

/// What a run is compared with, and its window.
struct Comparison {
  std::optional<ReferenceRuns> before_run;     ///< all runs before it
  std::optional<ReferenceRuns> before_window;  ///< all runs before its window
  std::vector<double> window_mean;             ///< empty: the window is not full
};

class PublishedWalk {
 public:
  PublishedWalk(const RunSeries& series, const PublishedTestOptions& options)
      : series_(series), options_(options), comparisons_(series.runs()) {
    // The first runs after a change are compared with what was before it: earlier epochs overwrite later ones.
    if (series.runs() == 0) return;
    for (std::size_t epoch = series.epoch.back() + 1; epoch-- > series.epoch.front();) fill(epoch);
    repeat_for_outliers();
  }

  const Comparison& comparison(std::size_t run) const { return comparisons_[run]; }

 private:
  const double* run(std::size_t i) const { return series_.values.data() + i * series_.dimensions; }

  void fill(std::size_t epoch) {
    Runs normal, all;
    std::size_t later = 0;
    for (std::size_t i = 0; i < series_.runs(); ++i) {
      const bool inside = series_.epoch[i] == epoch;
      const bool kept = series_.epoch[i] > epoch && !series_.outlier[i] && later < options_.keep;
      if (kept) ++later;
      if (inside || kept) all.push_back(i);
      if ((inside || kept) && !series_.outlier[i]) normal.push_back(i);
    }
    fill_references(normal);
    fill_windows(all);
  }

  void fill_references(const Runs& normal) {
    ReferenceRuns reference(series_.dimensions);
    std::vector<std::optional<ReferenceRuns>> after(normal.size());  // the reference once a run has entered it
    for (std::size_t j = 0; j < normal.size(); ++j) {
      reference.add(run(normal[j]));
      if (reference.count() >= options_.least_runs) after[j] = reference;
    }
    for (std::size_t j = 0; j < normal.size(); ++j) {
      Comparison& one = comparisons_[normal[j]];
      one.before_run = j >= 1 ? after[j - 1] : std::nullopt;
      one.before_window = j >= options_.window ? after[j - options_.window] : std::nullopt;
    }
  }

  void fill_windows(const Runs& all) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      std::vector<double>& mean = comparisons_[all[j]].window_mean;
      mean.clear();
      if (j + 1 < options_.window) continue;
      mean.assign(series_.dimensions, 0.0);
      for (std::size_t k = j + 1 - options_.window; k <= j; ++k)
        for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += run(all[k])[d] / static_cast<double>(options_.window);
    }
  }

  void repeat_for_outliers() {
    const Comparison none;
    const Comparison* run_last = &none;
    const Comparison* window_last = &none;
    for (std::size_t i = 0; i < series_.runs(); ++i) {
      Comparison& one = comparisons_[i];
      if (series_.outlier[i]) {
        one.before_run = run_last->before_run;
        one.before_window = window_last->before_window;
        continue;
      }
      if (one.before_run) run_last = &one;
      if (one.before_window) window_last = &one;
    }
  }

  const RunSeries& series_;
  const PublishedTestOptions& options_;
  std::vector<Comparison> comparisons_;
};

}  // namespace

std::vector<RunScore> published_scores(const RunSeries& series, const PublishedTestOptions& options) {
  require_valid(series);
  require_valid_test(options.confidence, options.window, options.least_runs, options.least_sd);
  const PublishedWalk walk(series, options);
  std::vector<RunScore> result(series.runs());
  for (std::size_t i = 0; i < series.runs(); ++i) {
    const Comparison& one = walk.comparison(i);
    const auto& reference = one.before_window;
    const auto& count_from = options.count_before_last ? one.before_run : reference;
    if (!reference || !count_from || one.window_mean.empty()) continue;
    const auto statistic = chew_statistic(*reference, one.window_mean, options.window, options.least_sd);
    if (!statistic) continue;
    RunScore& score = result[i];
    score.region = Region::inside;
    score.reference_runs = count_from->count();
    score.expected = reference->mean()[0];
    score.observed = one.window_mean[0];
    score.statistic = *statistic;
    const std::size_t p = series.dimensions, n = count_from->count(), r = options.window;
    if (options.count_before_last && p == 1) {
      const auto share = [r](std::size_t m) { return static_cast<double>(m) / static_cast<double>(m + r); };
      score.statistic *= share(n) / share(reference->count());
    }
    const double most = f_limit(options.confidence, p, n);
    if (score.statistic > most) score.region = flagged_region(p, score.observed, score.expected);
    score.sd = reference->standard_deviation(0, options.least_sd);
    const double variance_share = 1 / static_cast<double>(n) + 1 / static_cast<double>(r);
    if (p == 1) score.half_width = score.sd * std::sqrt(variance_share * most);
  }
  return result;
}

}  // namespace hplcast::fit
