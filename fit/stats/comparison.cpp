#include "hplcast/fit/comparison.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

void require_values(const std::vector<double>& values, std::size_t least) {
  if (values.size() < least)
    throw core::DomainError("number of values", static_cast<double>(values.size()),
                            "at least " + std::to_string(least));
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError("value", value, "finite numbers");
}

void require_level(double level) {
  if (!(level > 0) || !(level < 1)) throw core::DomainError("level", level, "a number in (0, 1)");
}

void require_summary(const SampleSummary& sample) {
  if (sample.count < 2) throw core::DomainError("number of values", static_cast<double>(sample.count), "at least 2");
  if (!std::isfinite(sample.mean)) throw core::DomainError("mean", sample.mean, "a finite number");
  if (!(sample.sd >= 0) || !std::isfinite(sample.sd))
    throw core::DomainError("standard deviation", sample.sd, "a finite number of at least 0");
}

/// Square of the standard error of the mean.
double error_square(const SampleSummary& sample) {
  return sample.sd * sample.sd / static_cast<double>(sample.count);
}

/// Of the difference of two means.
struct WelchDifference {
  double mean, error;
  boost::math::students_t student;
};

WelchDifference difference_of(const SampleSummary& a, const SampleSummary& b) {
  require_summary(a);
  require_summary(b);
  const double x = error_square(a), y = error_square(b);
  if (!(x + y > 0)) throw core::DomainError("variance", 0.0, "values that differ in at least one sample");
  const double freedom =
      (x + y) * (x + y) / (x * x / static_cast<double>(a.count - 1) + y * y / static_cast<double>(b.count - 1));
  return {a.mean - b.mean, std::sqrt(x + y), boost::math::students_t(freedom)};
}

double upper_normal_tail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

Eigen::VectorXd to_eigen(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

/// What the F quantile is multiplied by in Chew's region.
double region_factor(const ObservationSummary& past, long new_count) {
  const double n = static_cast<double>(past.count), r = static_cast<double>(new_count);
  const double p = static_cast<double>(past.mean.size());
  return p * (n - 1) * (n + r) / (n * r * (n - p));
}

void validate(const ObservationSummary& past, long new_count, double level) {
  require_level(level);
  const auto dimensions = static_cast<long>(past.mean.size());
  if (dimensions == 0 || past.covariance.size() != past.mean.size())
    throw core::DomainError("dimensions of the covariance", static_cast<double>(past.covariance.size()),
                            "those of the mean, at least 1");
  if (past.count <= dimensions)
    throw core::DomainError("number of past observations", static_cast<double>(past.count),
                            "more than the dimensions: " + std::to_string(dimensions));
  if (new_count < 1)
    throw core::DomainError("number of new observations", static_cast<double>(new_count), "at least 1");
}

boost::math::fisher_f region_law(const ObservationSummary& past) {
  const double p = static_cast<double>(past.mean.size());
  return boost::math::fisher_f(p, static_cast<double>(past.count) - p);
}

}  // namespace

SampleSummary summarize(const std::vector<double>& values) {
  require_values(values, 2);
  SampleSummary sample;
  double squares = 0;
  for (const double value : values) {
    ++sample.count;
    const double step = value - sample.mean;
    sample.mean += step / static_cast<double>(sample.count);
    squares += step * (value - sample.mean);
  }
  sample.sd = std::sqrt(squares / static_cast<double>(sample.count - 1));
  return sample;
}

Bounds mean_interval(const std::vector<double>& values, double level) {
  return mean_interval(summarize(values), level);
}

Bounds mean_interval(const SampleSummary& sample, double level) {
  require_summary(sample);
  require_level(level);
  const boost::math::students_t student(static_cast<double>(sample.count - 1));
  const double half = boost::math::quantile(student, (1 + level) / 2) * std::sqrt(error_square(sample));
  return {sample.mean - half, sample.mean + half, level};
}

Bounds median_interval(const std::vector<double>& values, double level) {
  require_values(values, 1);
  require_level(level);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const boost::math::binomial below(static_cast<double>(sorted.size()), 0.5);
  // Leaves out `skip` values at each end: the median is outside with probability 2 P(B <= skip).
  std::size_t skip = 0;
  while (2 * (skip + 1) < sorted.size() && 2 * boost::math::cdf(below, static_cast<double>(skip + 1)) <= 1 - level)
    ++skip;
  const double outside = 2 * boost::math::cdf(below, static_cast<double>(skip));
  return {sorted[skip], sorted[sorted.size() - 1 - skip], std::max(0.0, 1 - outside)};
}

TestResult welch_t_test(const std::vector<double>& a, const std::vector<double>& b) {
  return welch_t_test(summarize(a), summarize(b));
}

TestResult welch_t_test(const SampleSummary& a, const SampleSummary& b) {
  const WelchDifference difference = difference_of(a, b);
  const double t = difference.mean / difference.error;
  return {t, 2 * boost::math::cdf(boost::math::complement(difference.student, std::abs(t)))};
}

Bounds difference_interval(const SampleSummary& a, const SampleSummary& b, double level) {
  require_level(level);
  const WelchDifference difference = difference_of(a, b);
  const double half = boost::math::quantile(difference.student, (1 + level) / 2) * difference.error;
  return {difference.mean - half, difference.mean + half, level};
}

TestResult mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
  require_values(a, 1);
  require_values(b, 1);
  std::vector<std::pair<double, bool>> all;
  all.reserve(a.size() + b.size());
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
  return {u, std::min(1.0, 2 * upper_normal_tail(z))};
}

TestResult kolmogorov_smirnov(const std::vector<double>& a, const std::vector<double>& b) {
  require_values(a, 1);
  require_values(b, 1);
  std::vector<double> x = a, y = b;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  const double n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
  double distance = 0;
  for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    const double value = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == value) ++i;
    while (j < y.size() && y[j] == value) ++j;
    distance = std::max(distance, std::abs(static_cast<double>(i) / n - static_cast<double>(j) / m));
  }
  const double root = std::sqrt(n * m / (n + m));
  const double lambda = (root + 0.12 + 0.11 / root) * distance;
  double p = 0;
  for (int k = 1; k <= 100; ++k) p += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * lambda * lambda);
  return {distance, lambda < 0.2 ? 1 : std::clamp(p, 0.0, 1.0)};  // the series does not converge near 0, where p is 1
}

ObservationSummary summarize_observations(const std::vector<std::vector<double>>& rows) {
  if (rows.empty()) throw core::DomainError("number of observations", 0.0, "at least 1");
  const std::size_t size = rows.front().size();
  ObservationSummary summary{static_cast<long>(rows.size()), std::vector<double>(size, 0.0),
                             core::SquareMatrix(size, std::vector<double>(size, 0.0))};
  for (const auto& row : rows) {
    if (row.size() != size)
      throw core::DomainError("dimensions of an observation", static_cast<double>(row.size()), std::to_string(size));
    require_values(row, 1);
    for (std::size_t i = 0; i < size; ++i) summary.mean[i] += row[i] / static_cast<double>(rows.size());
  }
  const double divisor = std::max(1.0, static_cast<double>(rows.size()) - 1);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        summary.covariance[i][j] += (row[i] - summary.mean[i]) * (row[j] - summary.mean[j]) / divisor;
  return summary;
}

RegionTest prediction_region(const ObservationSummary& past, const std::vector<double>& new_mean, long new_count,
                             double level) {
  validate(past, new_count, level);
  if (new_mean.size() != past.mean.size())
    throw core::DomainError("dimensions of the new mean", static_cast<double>(new_mean.size()),
                            std::to_string(past.mean.size()));
  require_values(new_mean, 1);
  // In units of each variable's standard deviation, since coefficients differ by ten orders of magnitude.
  const auto n = static_cast<Eigen::Index>(past.mean.size());
  Eigen::VectorXd sd(n);
  for (Eigen::Index i = 0; i < n; ++i)
    sd(i) = std::sqrt(past.covariance[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)]);
  Eigen::MatrixXd correlation(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      correlation(i, j) = past.covariance[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] / (sd(i) * sd(j));
  const Eigen::LDLT<Eigen::MatrixXd> factor(correlation);
  // Below 1e-12 of the correlation is rounding: the variables depend on each other.
  if (!correlation.allFinite() || factor.info() != Eigen::Success || !(factor.vectorD().minCoeff() > 1e-12))
    throw core::DomainError("covariance of the past observations", "singular",
                            "variables that vary and do not depend on each other");
  const Eigen::VectorXd shift = (to_eigen(new_mean) - to_eigen(past.mean)).cwiseQuotient(sd);
  RegionTest test;
  test.distance = shift.dot(factor.solve(shift));
  const double multiplier = region_factor(past, new_count);
  test.limit = multiplier * boost::math::quantile(region_law(past), level);
  test.p_value = boost::math::cdf(boost::math::complement(region_law(past), test.distance / multiplier));
  return test;
}

Bounds prediction_interval(const ObservationSummary& past, long new_count, double level) {
  validate(past, new_count, level);
  if (past.mean.size() != 1) throw core::DomainError("dimensions", static_cast<double>(past.mean.size()), "1");
  const double half = std::sqrt(past.covariance[0][0] * region_factor(past, new_count) *
                                boost::math::quantile(region_law(past), level));
  return {past.mean[0] - half, past.mean[0] + half, level};
}

std::vector<double> corrected(const std::vector<double>& probabilities, std::size_t tests, Correction correction) {
  for (double probability : probabilities)
    if (!(probability >= 0 && probability <= 1))
      throw core::DomainError("probability", probability, "a number from 0 to 1");
  if (tests < probabilities.size())
    throw core::DomainError("number of tests", static_cast<double>(tests), "one per probability at least");
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
