#include "hplcast/fit/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::fit {

namespace {

void require_values(const std::vector<double>& values, std::size_t least) {
  if (values.size() < least)
    throw core::DomainError("number of values", values.size(), "at least " + std::to_string(least));
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError("value", value, "finite numbers");
}

void require_level(double level) {
  if (!(level > 0) || !(level < 1)) throw core::DomainError("level", level, "a number in (0, 1)");
}

void require_summary(const SampleSummary& sample) {
  if (sample.count < 2) throw core::DomainError("number of values", sample.count, "at least 2");
  if (!std::isfinite(sample.mean)) throw core::DomainError("mean", sample.mean, "a finite number");
  if (!(sample.sd >= 0) || !std::isfinite(sample.sd))
    throw core::DomainError("standard deviation", sample.sd, "a finite number of at least 0");
}

/// Square of the standard error of the mean.
double error_square(const SampleSummary& sample) {
  return sample.sd * sample.sd / static_cast<double>(sample.count);
}

/// Difference of two means, its standard error and degrees of freedom.
struct WelchDifference {
  double mean, error, freedom;
};

WelchDifference difference_of(const SampleSummary& a, const SampleSummary& b) {
  require_summary(a);
  require_summary(b);
  const double x = error_square(a), y = error_square(b);
  if (!(x + y > 0)) throw core::DomainError("variance", 0.0, "values that differ in at least one sample");
  const double freedom =
      (x + y) * (x + y) / (x * x / static_cast<double>(a.count - 1) + y * y / static_cast<double>(b.count - 1));
  return {a.mean - b.mean, std::sqrt(x + y), freedom};
}

}  // namespace

SampleSummary summarize(const std::vector<double>& values) {
  require_values(values, 2);
  SampleSummary sample;
  double squares = 0;
  for (const double value : values) {
    ++sample.count;
    detail::update_moments(static_cast<double>(sample.count), value, sample.mean, squares);
  }
  sample.sd = std::sqrt(squares / static_cast<double>(sample.count - 1));
  return sample;
}

Bounds mean_interval(const SampleSummary& sample, double level) {
  require_summary(sample);
  require_level(level);
  const double half =
      students_t_quantile(static_cast<double>(sample.count - 1), (1 + level) / 2) * std::sqrt(error_square(sample));
  return {sample.mean - half, sample.mean + half, level};
}

TestResult welch_t_test(const SampleSummary& a, const SampleSummary& b) {
  const WelchDifference difference = difference_of(a, b);
  const double t = difference.mean / difference.error;
  return {t, 2 * students_t_tail(difference.freedom, std::abs(t))};
}

Bounds difference_interval(const SampleSummary& a, const SampleSummary& b, double level) {
  require_level(level);
  const WelchDifference difference = difference_of(a, b);
  const double half = students_t_quantile(difference.freedom, (1 + level) / 2) * difference.error;
  return {difference.mean - half, difference.mean + half, level};
}

TestResult mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
  require_values(a, 1);
  require_values(b, 1);
  std::vector<std::pair<double, bool>> all;
  for (double value : a) all.emplace_back(value, true);
  for (double value : b) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  double rank_sum = 0, ties = 0;
  for (std::size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && all[end].first == all[first].first) ++end;
    const double equal = static_cast<double>(end - first);
    const double rank = static_cast<double>(first) + (equal + 1) / 2;
    for (std::size_t i = first; i < end; ++i) rank_sum += all[i].second ? rank : 0;
    ties += equal * equal * equal - equal;
  }
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), total = n + m;
  const double u = rank_sum - n * (n + 1) / 2;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (!(variance > 0)) return {u, 1};  // all values are equal
  // Half a step towards the mean: U is a count, the normal law is continuous.
  const double z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / std::sqrt(variance);
  return {u, std::min(1.0, 2 * core::normal_cdf(-z))};
}

std::vector<double> corrected(const std::vector<double>& probabilities, std::size_t tests, Correction correction) {
  for (double probability : probabilities)
    core::require(probability >= 0 && probability <= 1, "probability", probability, "a number from 0 to 1");
  if (tests < probabilities.size()) throw core::DomainError("number of tests", tests, "one per probability at least");
  std::vector<double> result = probabilities;
  if (correction == Correction::none) return result;
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return probabilities[a] < probabilities[b]; });
  const auto all = static_cast<double>(tests);
  if (correction == Correction::holm) {
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      least = std::max(least, std::min(1.0, (all - static_cast<double>(i)) * probabilities[order[i]]));
      result[order[i]] = least;
    }
    return result;
  }
  double most = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    most = std::min(most, all / static_cast<double>(i + 1) * probabilities[order[i]]);
    result[order[i]] = most;
  }
  return result;
}

}  // namespace hplcast::fit
