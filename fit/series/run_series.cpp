#include "hplcast/fit/run_series.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

bool is_flagged(Region region) {
  return region == Region::below || region == Region::above || region == Region::outside;
}

namespace {

void require_valid(const RunSeries& series) {
  if (series.dimensions < 1) throw core::DomainError("number of factors", 0.0, "a number >= 1");
  const std::size_t runs = series.runs();
  core::require(series.values.size() == runs * series.dimensions && series.epoch.size() == runs,
                "length of values and epochs", series.values.size(), "one value per factor and one epoch per run");
  if (!std::is_sorted(series.epoch.begin(), series.epoch.end()))
    throw core::DomainError("epochs", "falling", "numbers that never fall: runs in the order of time");
  for (double value : series.values)
    if (!std::isfinite(value)) throw core::DomainError("value of a run", value, "a finite number");
}

void require_valid(const RunTestOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    throw core::DomainError("confidence", options.confidence, "a number above 0 and below 1");
  if (options.window < 1) throw core::DomainError("window", 0.0, "a number >= 1");
  if (!(options.kept_out_confidence > 0 && options.kept_out_confidence < 1))
    throw core::DomainError("confidence of runs kept out", options.kept_out_confidence, "a number above 0 and below 1");
  core::require(options.least_runs >= 2, "least number of runs", options.least_runs, "a number >= 2");
  if (!(options.least_sd >= 0)) throw core::DomainError("least standard deviation", options.least_sd, "a number >= 0");
}

/// Score of the mean of `r` runs, compared with `reference` as if that had `n` of them.
RunScore scored(const ReferenceRuns& reference, std::size_t n, const std::vector<double>& mean, std::size_t r,
                double statistic, double limit, double least_sd) {
  RunScore score;
  score.reference_runs = n;
  score.statistic = statistic;
  score.observed = mean[0];
  score.expected = reference.mean()[0];
  score.sd = reference.standard_deviation(0, least_sd);
  const Region side = score.observed < score.expected ? Region::below : Region::above;
  score.region = !(statistic > limit) ? Region::inside : mean.size() > 1 ? Region::outside : side;
  const double share = 1 / static_cast<double>(n) + 1 / static_cast<double>(r);
  if (mean.size() == 1) score.half_width = score.sd * std::sqrt(share * limit);
  return score;
}

/// Correlation of runs that follow on each other, without its bias of about -1/n (Marriott and Pope 1954); 0 if it may
/// be chance. Values farther than `most` from `middle` count as that far.
double lag_one_autocorrelation(const std::vector<double>& values, double middle, double most) {
  const auto clipped = [&](std::size_t i) { return std::clamp(values[i] - middle, -most, most); };
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0, products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) mean += clipped(i) / count;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += std::pow(clipped(i) - mean, 2);
    if (i > 0) products += (clipped(i) - mean) * (clipped(i - 1) - mean);
  }
  const double found = squares > 0 ? products / squares + 1 / count : 0;
  return found < 1 / std::sqrt(count) ? 0 : found;
}

/// Runs of one factor that count as normal, for the medians of windows: a bad run hardly moves anything here.
class MedianReference {
 public:
  void add(double value) {
    in_order_.push_back(value);
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
    if (sorted_.size() < renewed_at_) return;
    constexpr std::size_t few = 50;
    renewed_at_ = sorted_.size() + 1 + sorted_.size() / few;  // of long histories a fiftieth more runs changes little
    renew();
  }
  void clear() { *this = {}; }
  std::size_t count() const { return sorted_.size(); }
  double median() const { return detail::quantile(sorted_, 0.5); }
  double autocorrelation() const { return autocorrelation_; }

 private:
  void renew() {
    const double middle = median(), sd = core::sd_of_median_distance * core::median_distance(sorted_, middle);
    autocorrelation_ = std::min(most_autocorrelation, lag_one_autocorrelation(in_order_, middle, 3 * sd));
  }

  static constexpr double most_autocorrelation = 0.95;  // beyond, runs say nothing of each other but that they drift
  std::vector<double> in_order_, sorted_;
  std::size_t renewed_at_ = 0;
  double autocorrelation_ = 0;
};

/// Variance of the median of `runs` independent standard normal numbers: pi / 2 / (runs + b), within 0.3 % of the exact
/// one for 1 to 11 runs (b fitted to those); of an even number the mean of the middle two.
double variance_of_median(double runs) {
  const double b = std::fmod(runs, 2) == 0 ? 1.40 - 0.52 / runs : 0.45 + 0.12 / runs;
  return M_PI / 2 / (runs + b);
}

/// One pass through a series.
struct Walk {
  const RunSeries& series;
  ReferenceRuns reference;
  MedianReference medians;  ///< the same runs, if windows of a single factor are tested
  std::deque<std::size_t> window;

  explicit Walk(const RunSeries& runs) : series(runs), reference(runs.dimensions) {}

  std::vector<double> mean_of_window(std::size_t left_out = static_cast<std::size_t>(-1)) const {
    std::vector<double> mean(series.dimensions);
    double count = 0;
    for (std::size_t i : window) {
      if (i == left_out) continue;
      ++count;
      for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += series.run(i)[d];
    }
    for (double& value : mean) value /= count;
    return mean;
  }

  /// Whether four fifths of the window's runs show a quarter of what its median shows: three of five that are far in a
  /// heavy tail are no trend.
  bool shows(const RunScore& score) const {
    constexpr double least_share = 0.25, most_runs = 0.8;
    const auto count = std::count_if(window.begin(), window.end(), [&](std::size_t i) {
      return (*series.run(i) - score.expected) / (score.observed - score.expected) >= least_share;
    });
    return static_cast<double>(count) >= most_runs * static_cast<double>(window.size());
  }

  /// The run of the window that is farthest from the reference, in standard deviations.
  std::size_t worst() const {
    const auto distance = [&](std::size_t i) {
      double sum = 0;
      for (std::size_t d = 0; d < series.dimensions; ++d) {
        const double difference = series.run(i)[d] - reference.mean()[d];
        sum += difference * difference / std::max(reference.covariance(d, d), 1e-300);
      }
      return sum;
    };
    return *std::max_element(window.begin(), window.end(),
                             [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  }
};

}  // namespace

RunTests::RunTests(const RunTestOptions& options) : options_(options) {
  require_valid(options);
}

const RunTests::Limits& RunTests::limits(std::size_t p, std::size_t n) {
  const auto [entry, is_new] = limits_.emplace(std::make_pair(p, n), Limits{});
  if (is_new)
    entry->second = {f_limit(options_.confidence, p, n),
                     f_limit(std::max(options_.confidence, options_.kept_out_confidence), p, n)};
  return entry->second;
}

RunScore RunTests::score(const ReferenceRuns& reference, const std::vector<double>& mean, std::size_t r) {
  const std::size_t n = reference.count();
  if (n < options_.least_runs) return {};
  const auto statistic = chew_statistic(reference, mean, r, options_.least_sd);
  if (!statistic) return {};
  const Limits& limits_of_n = limits(reference.dimensions(), n);
  RunScore result = scored(reference, n, mean, r, *statistic, limits_of_n.flagged, options_.least_sd);
  result.is_kept_out = *statistic > limits_of_n.kept_out;
  return result;
}

/// The score of the median of `r` runs, which a bad run moves little.
static RunScore median_score(const MedianReference& reference, double sd_of_runs, double median, double r,
                             double limit) {
  RunScore score;
  score.reference_runs = reference.count();
  score.autocorrelation = reference.autocorrelation();
  score.observed = median;
  score.expected = reference.median();
  score.sd = sd_of_runs;
  const auto n = static_cast<double>(score.reference_runs);
  const double a = score.autocorrelation;
  const double variance = variance_of_median(r) * variance_inflation(a, r) + M_PI / 2 * variance_inflation(a) / n;
  const double difference = score.observed - score.expected, sd = score.sd * std::sqrt(variance);
  score.statistic = difference == 0 ? 0 : difference * difference / (sd * sd);
  score.half_width = sd * std::sqrt(limit);
  score.region = !(score.statistic > limit) ? Region::inside : difference < 0 ? Region::below : Region::above;
  return score;
}

std::vector<RunScore> RunTests::scores(const RunSeries& series, const std::vector<bool>& kept_out) {
  require_valid(series);
  core::require(kept_out.empty() || kept_out.size() == series.runs(), "number of marks", kept_out.size(),
                "one per run");
  std::vector<RunScore> result(series.runs());
  Walk walk(series);
  const bool medians = options_.window > 2 && series.dimensions == 1;
  for (std::size_t i = 0; i < series.runs(); ++i) {
    if (i > 0 && series.epoch[i] != series.epoch[i - 1]) {
      walk.reference.clear();
      walk.medians.clear();
      walk.window.clear();
    }
    if (series.outlier[i]) {
      if (options_.window == 1)
        result[i] = score(walk.reference, {series.run(i), series.run(i) + series.dimensions}, 1);
      continue;
    }
    walk.window.push_back(i);
    if (walk.window.size() < options_.window) continue;
    const std::size_t n = walk.reference.count();
    if (!medians) {
      result[i] = score(walk.reference, walk.mean_of_window(), options_.window);
    } else if (n >= options_.least_runs) {
      const auto values = core::mapped(walk.window, [&](std::size_t run) { return *series.run(run); });
      result[i] = median_score(walk.medians, walk.reference.standard_deviation(0, options_.least_sd),
                               core::median(values), static_cast<double>(options_.window), limits(1, n).flagged);
      result[i].is_kept_out = result[i].statistic > limits(1, n).kept_out;
    }
    const bool flagged = is_flagged(result[i].region);
    result[i].without_worst = medians && walk.shows(result[i]);
    if (flagged && !medians && options_.window > 1) {
      const auto rest = score(walk.reference, walk.mean_of_window(walk.worst()), options_.window - 1);
      result[i].without_worst = rest.region == result[i].region;
    }
    const std::size_t oldest = walk.window.front();
    walk.window.pop_front();
    if (result[i].is_kept_out || (!kept_out.empty() && kept_out[oldest])) continue;
    walk.reference.add(series.run(oldest));
    if (medians) walk.medians.add(*series.run(oldest));
  }
  return result;
}

namespace {

/// References of a run and of its window, and the mean of the window.
struct Comparison {
  std::optional<ReferenceRuns> before_run;     ///< all runs before it
  std::optional<ReferenceRuns> before_window;  ///< all runs before its window
  std::vector<double> window_mean;             ///< empty: the window is not full
};

/// Compares the runs of one epoch, and the first `keep` ones after it.
void compare_epoch(const RunSeries& series, const PublishedTestOptions& options, std::size_t epoch,
                   std::vector<Comparison>& comparisons) {
  ReferenceRuns reference(series.dimensions);
  std::vector<std::optional<ReferenceRuns>> after;  // each run that has entered the reference
  std::deque<std::size_t> window;
  std::size_t later = 0;
  for (std::size_t i = 0; i < series.runs(); ++i) {
    const bool kept = series.epoch[i] > epoch && !series.outlier[i] && later < options.keep;
    if (kept) ++later;
    if (series.epoch[i] != epoch && !kept) continue;
    Comparison& one = comparisons[i];
    one.window_mean.clear();
    window.push_back(i);
    if (window.size() > options.window) window.pop_front();
    if (window.size() == options.window) {
      one.window_mean.resize(series.dimensions);
      for (const std::size_t run : window)
        for (std::size_t d = 0; d < series.dimensions; ++d)
          one.window_mean[d] += series.run(run)[d] / static_cast<double>(options.window);
    }
    if (series.outlier[i]) continue;
    const std::size_t entered = after.size();
    one.before_run = entered >= 1 ? after.back() : std::nullopt;
    one.before_window = entered >= options.window ? after[entered - options.window] : std::nullopt;
    reference.add(series.run(i));
    after.push_back(reference.count() >= options.least_runs ? std::optional(reference) : std::nullopt);
  }
}

std::vector<Comparison> published_comparisons(const RunSeries& series, const PublishedTestOptions& options) {
  std::vector<Comparison> comparisons(series.runs());
  if (comparisons.empty()) return comparisons;
  // The first runs after a change are compared with what was before it: earlier epochs overwrite later ones.
  for (std::size_t epoch = series.epoch.back() + 1; epoch-- > series.epoch.front();)
    compare_epoch(series, options, epoch, comparisons);
  const Comparison none;
  const Comparison *run_last = &none, *window_last = &none;
  for (std::size_t i = 0; i < series.runs(); ++i) {
    Comparison& one = comparisons[i];
    if (series.outlier[i]) {
      one.before_run = run_last->before_run;
      one.before_window = window_last->before_window;
      continue;
    }
    if (one.before_run) run_last = &one;
    if (one.before_window) window_last = &one;
  }
  return comparisons;
}

}  // namespace

std::vector<RunScore> published_scores(const RunSeries& series, const PublishedTestOptions& options) {
  require_valid(series);
  require_valid(options);
  const std::vector<Comparison> comparisons = published_comparisons(series, options);
  std::vector<RunScore> result(series.runs());
  for (std::size_t i = 0; i < series.runs(); ++i) {
    const Comparison& one = comparisons[i];
    const auto& reference = one.before_window;
    const auto& count_from = options.count_before_last ? one.before_run : reference;
    if (!reference || !count_from || one.window_mean.empty()) continue;
    auto statistic = chew_statistic(*reference, one.window_mean, options.window, options.least_sd);
    if (!statistic) continue;
    const std::size_t p = series.dimensions, n = count_from->count(), r = options.window;
    if (options.count_before_last && p == 1) {
      const auto share = [r](std::size_t m) { return static_cast<double>(m) / static_cast<double>(m + r); };
      *statistic *= share(n) / share(reference->count());
    }
    const double limit = f_limit(options.confidence, p, n);
    result[i] = scored(*reference, n, one.window_mean, r, *statistic, limit, options.least_sd);
  }
  return result;
}

}  // namespace hplcast::fit
