#pragma once

#include <cstddef>
#include <optional>
#include <vector>

/// Does a new campaign belong to the earlier ones? Prediction regions of the normal distribution (V. Chew,
/// Confidence, prediction and tolerance regions for the multivariate normal distribution, JASA 61, 1966).
namespace hplcast::fit {

/// Quantile of F with `p` and `n - p` degrees of freedom. @throws core::DomainError unless 0 < confidence < 1, p >= 1
/// and n > p.
double f_limit(double confidence, std::size_t p, std::size_t n);

/// Half the width of the interval for the mean of `r` new runs after `n` earlier ones, as a multiple of their standard
/// deviation. @throws core::DomainError as f_limit(), and for r = 0.
double interval_factor(double confidence, std::size_t n, std::size_t r);

/// Squared radius of the region of `p` factors, in the metric of the inverse covariance of the `n` earlier runs.
/// @throws core::DomainError as interval_factor().
double region_radius_squared(double confidence, std::size_t p, std::size_t n, std::size_t r);

/// Upper tail of F with `p` and `n - p` degrees of freedom: how likely such a statistic is without any change.
/// @throws core::DomainError as f_limit().
double f_tail(double statistic, std::size_t p, std::size_t n);

/// Mean and covariance of the runs that count as normal, of `dimensions` factors each (Welford 1962).
class ReferenceRuns {
 public:
  explicit ReferenceRuns(std::size_t dimensions = 1);
  /// `values`: one number per factor.
  void add(const double* values);
  void clear();
  std::size_t count() const noexcept { return count_; }
  std::size_t dimensions() const noexcept { return mean_.size(); }
  const std::vector<double>& mean() const noexcept { return mean_; }
  /// With count - 1; 0 for fewer than two runs.
  double covariance(std::size_t i, std::size_t j) const;
  /// Standard deviation of a factor, at least `least_sd` of the absolute mean: instruments round, and a standard
  /// deviation of 0 would make an alarm of every last digit.
  double standard_deviation(std::size_t i, double least_sd) const;

 private:
  std::size_t count_ = 0;
  std::vector<double> mean_;
  std::vector<double> products_;  // sums of products of deviations, dimensions x dimensions
  std::vector<double> before_;    // deviations from the mean before a run; here to allocate once
};

/// Chew's statistic of the mean of `r` new runs: n r (n - p) / ((n + r) (n - 1) p) times the squared distance from the
/// mean of the earlier ones. Without any change it has an F distribution with p and n - p degrees of freedom. Nothing
/// if there are no more earlier runs than factors, or if factors say the same (their covariance has no inverse).
std::optional<double> chew_statistic(const ReferenceRuns& reference, const std::vector<double>& mean_of_new,
                                     std::size_t r, double least_sd);

}  // namespace hplcast::fit
