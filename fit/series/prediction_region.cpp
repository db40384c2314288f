#include "hplcast/fit/run_series.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/distributions.hpp"

namespace hplcast::fit {

namespace {

/// Degrees of freedom of the denominator.
double freedom_of(std::size_t p, std::size_t n) {
  if (p < 1) throw core::DomainError("number of factors", p, "a number >= 1");
  core::require(n > p, "number of earlier runs", n, "more than the number of factors, " + std::to_string(p));
  return static_cast<double>(n - p);
}

/// Squared distance of one factor; infinite if it never varied and now differs.
double distance_of_one(const ReferenceRuns& reference, double value, double least_sd) {
  const double difference = value - reference.mean()[0];
  if (difference == 0) return 0;
  const double sd = reference.standard_deviation(0, least_sd);
  return sd > 0 ? difference / sd * (difference / sd) : std::numeric_limits<double>::infinity();
}

/// In units of standard deviations, so that the correlations decide whether there is an inverse, not the units.
std::optional<double> distance_of_many(const ReferenceRuns& reference, const std::vector<double>& values,
                                       double least_sd) {
  const auto p = static_cast<Eigen::Index>(values.size());
  Eigen::MatrixXd correlation = Eigen::MatrixXd::Identity(p, p);
  Eigen::VectorXd difference(p);
  for (Eigen::Index i = 0; i < p; ++i) {
    const auto a = static_cast<std::size_t>(i);
    const double sd = reference.standard_deviation(a, least_sd);
    if (!(sd > 0)) return std::nullopt;
    difference(i) = (values[a] - reference.mean()[a]) / sd;
    for (Eigen::Index j = 0; j < i; ++j) {
      const auto b = static_cast<std::size_t>(j);
      correlation(i, j) = correlation(j, i) =
          reference.covariance(a, b) / sd / reference.standard_deviation(b, least_sd);
    }
  }
  const Eigen::LDLT<Eigen::MatrixXd> factors(correlation);
  // Pivots: what a factor says that those before it do not, 1 at most. Below this it is rounding.
  if (factors.info() != Eigen::Success || factors.vectorD().minCoeff() < 1e-12) return std::nullopt;
  return difference.dot(factors.solve(difference));
}

}  // namespace

double f_limit(double confidence, std::size_t p, std::size_t n) {
  core::require(confidence > 0 && confidence < 1, "confidence", confidence, "a number above 0 and below 1");
  return fisher_f_quantile(static_cast<double>(p), freedom_of(p, n), confidence);
}

double variance_inflation(double autocorrelation, double runs) {
  const double a = autocorrelation;
  return variance_inflation(a) - 2 * a * (1 - std::pow(a, runs)) / (runs * (1 - a) * (1 - a));
}

double f_tail(double statistic, std::size_t p, std::size_t n) {
  if (!(statistic > 0)) return 1;
  if (std::isinf(statistic)) return 0;
  return fisher_f_tail(static_cast<double>(p), freedom_of(p, n), statistic);
}

ReferenceRuns::ReferenceRuns(std::size_t dimensions)
    : mean_(dimensions), products_(dimensions * dimensions), before_(dimensions) {
  if (dimensions < 1) throw core::DomainError("number of factors", 0.0, "a number >= 1");
}

void ReferenceRuns::add(const double* values) {
  ++count_;
  const std::size_t p = mean_.size();
  for (std::size_t i = 0; i < p; ++i) {
    before_[i] = values[i] - mean_[i];
    mean_[i] += before_[i] / static_cast<double>(count_);
  }
  for (std::size_t i = 0; i < p; ++i)
    for (std::size_t j = 0; j < p; ++j) products_[i * p + j] += before_[i] * (values[j] - mean_[j]);
}

void ReferenceRuns::clear() {
  count_ = 0;
  std::fill(mean_.begin(), mean_.end(), 0.0);
  std::fill(products_.begin(), products_.end(), 0.0);
}

double ReferenceRuns::standard_deviation(std::size_t i, double least_sd) const {
  return std::max(std::sqrt(std::max(0.0, covariance(i, i))), least_sd * std::abs(mean_[i]));
}

std::optional<double> chew_statistic(const ReferenceRuns& reference, const std::vector<double>& mean_of_new,
                                     std::size_t r, double least_sd) {
  const std::size_t p = reference.dimensions();
  const std::size_t n = reference.count();
  core::require(mean_of_new.size() == p, "number of new values", mean_of_new.size(), "one per factor");
  if (r < 1) throw core::DomainError("number of new runs", 0.0, "a number >= 1");
  if (n <= p || n < 2) return std::nullopt;
  const auto distance = p == 1 ? std::optional(distance_of_one(reference, mean_of_new[0], least_sd))
                               : distance_of_many(reference, mean_of_new, least_sd);
  if (!distance) return std::nullopt;
  const auto of = [](std::size_t count) { return static_cast<double>(count); };
  return *distance * of(n) * of(r) / of(n + r) * of(n - p) / (of(n - 1) * of(p));
}

}  // namespace hplcast::fit
