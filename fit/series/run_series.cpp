#include "hplcast/fit/run_series.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

bool is_flagged(Region region) {
  return region == Region::below || region == Region::above || region == Region::outside;
}

void require_valid(const RunSeries& series) {
  if (series.dimensions < 1) throw core::DomainError("number of factors", 0.0, "a number >= 1");
  const std::size_t runs = series.runs();
  if (series.values.size() != runs * series.dimensions || series.epoch.size() != runs) {
    throw core::DomainError("length of values and epochs", static_cast<double>(series.values.size()),
                            "one value per factor and one epoch per run");
  }
  if (!std::is_sorted(series.epoch.begin(), series.epoch.end()))
    throw core::DomainError("epochs", "falling", "numbers that never fall: runs in the order of time");
  for (double value : series.values)
    if (!std::isfinite(value)) throw core::DomainError("value of a run", value, "a finite number");
}

void require_valid_test(double confidence, std::size_t window, std::size_t least_runs, double least_sd) {
  if (!(confidence > 0 && confidence < 1))
    throw core::DomainError("confidence", confidence, "a number above 0 and below 1");
  if (window < 1) throw core::DomainError("window", 0.0, "a number >= 1");
  if (least_runs < 2) throw core::DomainError("least number of runs", static_cast<double>(least_runs), "a number >= 2");
  if (!(least_sd >= 0)) throw core::DomainError("least standard deviation", least_sd, "a number >= 0");
}

Region flagged_region(std::size_t dimensions, double observed, double expected) {
  if (dimensions > 1) return Region::outside;
  return observed < expected ? Region::below : Region::above;
}

/// One pass through a series.
struct RunTests::Walk {
  const RunSeries& series;
  ReferenceRuns reference;
  std::deque<std::size_t> window;

  explicit Walk(const RunSeries& runs) : series(runs), reference(runs.dimensions) {}

  const double* run(std::size_t i) const { return series.values.data() + i * series.dimensions; }

  std::vector<double> mean_of_window(std::size_t left_out = static_cast<std::size_t>(-1)) const {
    std::vector<double> mean(series.dimensions);
    double count = 0;
    for (std::size_t i : window) {
      if (i == left_out) continue;
      ++count;
      for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += run(i)[d];
    }
    for (double& value : mean) value /= count;
    return mean;
  }

  /// The run of the window that is farthest from the reference, in standard deviations.
  std::size_t worst() const {
    const auto distance = [&](std::size_t i) {
      double sum = 0;
      for (std::size_t d = 0; d < series.dimensions; ++d) {
        const double difference = run(i)[d] - reference.mean()[d];
        sum += difference * difference / std::max(reference.covariance(d, d), 1e-300);
      }
      return sum;
    };
    return *std::max_element(window.begin(), window.end(),
                             [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  }
};

RunTests::RunTests(const RunTestOptions& options) : options_(options) {
  require_valid_test(options.confidence, options.window, options.least_runs, options.least_sd);
}

double RunTests::limit(std::size_t p, std::size_t n) {
  const auto [entry, is_new] = limits_.emplace(std::make_pair(p, n), 0.0);
  if (is_new) entry->second = f_limit(options_.confidence, p, n);
  return entry->second;
}

RunScore RunTests::score(const ReferenceRuns& reference, const std::vector<double>& mean, std::size_t r) {
  RunScore result;
  const std::size_t n = reference.count();
  if (n < options_.least_runs) return result;
  const auto statistic = chew_statistic(reference, mean, r, options_.least_sd);
  if (!statistic) return result;
  const double most = limit(reference.dimensions(), n);
  result.reference_runs = n;
  result.statistic = *statistic;
  result.observed = mean[0];
  result.expected = reference.mean()[0];
  result.region = *statistic > most ? flagged_region(mean.size(), mean[0], result.expected) : Region::inside;
  result.sd = reference.standard_deviation(0, options_.least_sd);
  const double share = 1 / static_cast<double>(n) + 1 / static_cast<double>(r);
  if (mean.size() == 1) result.half_width = result.sd * std::sqrt(share * most);
  return result;
}

std::vector<RunScore> RunTests::scores(const RunSeries& series, const std::vector<bool>& kept_out) {
  require_valid(series);
  if (!kept_out.empty() && kept_out.size() != series.runs())
    throw core::DomainError("number of marks", static_cast<double>(kept_out.size()), "one per run");
  std::vector<RunScore> result(series.runs());
  Walk walk(series);
  for (std::size_t i = 0; i < series.runs(); ++i) {
    if (i > 0 && series.epoch[i] != series.epoch[i - 1]) {
      walk.reference.clear();
      walk.window.clear();
    }
    if (series.outlier[i]) {
      if (options_.window == 1) result[i] = score(walk.reference, {walk.run(i), walk.run(i) + series.dimensions}, 1);
      continue;
    }
    walk.window.push_back(i);
    if (walk.window.size() < options_.window) continue;
    result[i] = score(walk.reference, walk.mean_of_window(), options_.window);
    const bool flagged = is_flagged(result[i].region);
    if (flagged && options_.window > 1) {
      const auto rest = score(walk.reference, walk.mean_of_window(walk.worst()), options_.window - 1);
      result[i].without_worst = rest.region == result[i].region;
    }
    const std::size_t oldest = walk.window.front();
    walk.window.pop_front();
    if (!flagged && (kept_out.empty() || !kept_out[oldest])) walk.reference.add(walk.run(oldest));
  }
  return result;
}

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
