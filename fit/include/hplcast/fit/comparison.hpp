#pragma once

#include <cstddef>
#include <vector>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

/// Two bounds, in the unit of the values.
struct Bounds {
  double lower = 0;
  double upper = 0;
  double level = 0;  ///< probability to hold the truth; for median_interval() the one that these bounds have
};

/// Values without the values.
struct SampleSummary {
  double mean = 0;
  double sd = 0;  ///< sample standard deviation
  long count = 0;
};

/// @throws DomainError for fewer than 2 values, values that are not finite.
SampleSummary summarize(const std::vector<double>& values);

/// Confidence interval of the expectation of normal values (Student). With the central limit theorem also good for
/// others from some 30 values on. @throws DomainError for fewer than 2 values, values that are not finite, level not in
/// (0, 1).
Bounds mean_interval(const std::vector<double>& values, double level = 0.95);
/// @throws DomainError for a summary of fewer than 2 values, or one that is not finite or has a negative sd, too.
Bounds mean_interval(const SampleSummary& sample, double level = 0.95);

/// Confidence interval of the median, of any continuous distribution: two of the sorted values (exact, by the binomial
/// distribution; Conover 1999, 3.2). Its level is at least `level`, except with fewer than 6 values (for 95 percent),
/// where the bounds are the least and the largest value and `level` says what that is worth. @throws as
/// mean_interval(), for no values.
Bounds median_interval(const std::vector<double>& values, double level = 0.95);

/// Result of a test: a p-value below 0.05 or so speaks against the hypothesis.
struct TestResult {
  double statistic = 0;
  double p_value = 1;
};

/// Shapiro and Wilk (1965) in the version of Royston (1995, algorithm AS R94): hypothesis "the values are normal".
/// 3 to 5000 values; of more, 5000 evenly spaced ones of the sorted values count, which is enough to see any deviation
/// that matters.
/// @throws DomainError for fewer than 3 values, equal values only, values that are not finite.
TestResult shapiro_wilk(std::vector<double> values);

/// Welch (1947): hypothesis "equal expectations", variances may differ. @throws DomainError for fewer than 2 values in
/// a sample or no variance at all.
TestResult welch_t_test(const std::vector<double>& a, const std::vector<double>& b);
TestResult welch_t_test(const SampleSummary& a, const SampleSummary& b);

/// Confidence interval of the difference of two expectations, that of `a` minus that of `b`, after Welch. @throws as
/// welch_t_test(), and for a level not in (0, 1).
Bounds difference_interval(const SampleSummary& a, const SampleSummary& b, double level = 0.95);

/// Mann and Whitney (1947), normal approximation with correction for ties: hypothesis "a value of one sample is as
/// often larger as smaller than one of the other". The statistic is U of `a`. Good from 8 values each on. @throws
/// DomainError for empty samples.
TestResult mann_whitney(const std::vector<double>& a, const std::vector<double>& b);

/// Kolmogorov and Smirnov: hypothesis "the same distribution". The statistic is the largest distance of the empirical
/// distributions; the p-value is asymptotic with the correction of Stephens (1970). @throws DomainError for empty
/// samples.
TestResult kolmogorov_smirnov(const std::vector<double>& a, const std::vector<double>& b);

/// n past observations of p values each, without the observations.
struct ObservationSummary {
  long count = 0;
  std::vector<double> mean;
  core::SquareMatrix covariance;  ///< sample covariance, divisor count - 1
};

/// @throws DomainError for rows of different lengths, values that are not finite, no rows.
ObservationSummary summarize_observations(const std::vector<std::vector<double>>& rows);

/// Do new observations fit the past ones?
struct RegionTest {
  double distance = 0;  ///< (y - x)' S^-1 (y - x), y the mean of the new, x that of the past
  double limit = 0;     ///< the distance that 1 - alpha = level of all means of r new observations stay below
  double p_value = 1;   ///< probability of a larger distance, if nothing has changed
  bool inside() const noexcept { return distance <= limit; }
};

/// Prediction region of the mean of `new_count` = r further observations of a p-dimensional normal law of which n were
/// seen:
///   (y - x)' S^-1 (y - x) <= p (n - 1) (n + r) / (n r (n - p)) F(level; p, n - p)     (V. Chew 1966, JASA 61, 605-617)
/// @throws DomainError for n <= p, r < 1, a singular covariance, other dimensions, level not in (0, 1).
RegionTest prediction_region(const ObservationSummary& past, const std::vector<double>& new_mean, long new_count,
                             double level = 0.95);

/// The same for one dimension as an interval around the mean of the past. @throws as prediction_region().
Bounds prediction_interval(const ObservationSummary& past, long new_count, double level = 0.95);

/// How the probabilities of many tests at once are corrected.
enum class Correction {
  none,
  holm,                ///< S. Holm 1979: the chance of any false finding, whatever the tests have in common
  benjamini_hochberg,  ///< Y. Benjamini and Y. Hochberg 1995: the expected share of false ones among the findings
};

/// Probabilities as if each were the only test, in the order given: a finding at level alpha is one with at most alpha.
/// `tests`: how many were made; those that are not in `probabilities` have larger ones than all that are.
/// @throws core::DomainError for probabilities outside [0, 1], or fewer tests than probabilities.
std::vector<double> corrected(const std::vector<double>& probabilities, std::size_t tests, Correction correction);

}  // namespace hplcast::fit
