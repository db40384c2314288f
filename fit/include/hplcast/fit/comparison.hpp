#pragma once

#include <cstddef>
#include <vector>

namespace hplcast::fit {

/// Two bounds, in the unit of the values.
struct Bounds {
  double lower = 0;
  double upper = 0;
  double level = 0;  ///< probability to hold the truth
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
/// others from some 30 values on. @throws DomainError for a summary of fewer than 2 values, or one that is not finite
/// or has a negative sd, level not in (0, 1).
Bounds mean_interval(const SampleSummary& sample, double level = 0.95);

/// Result of a test: a p-value below 0.05 or so speaks against the hypothesis.
struct TestResult {
  double statistic = 0;
  double p_value = 1;
};

/// Welch (1947): hypothesis "equal expectations", variances may differ. @throws DomainError for fewer than 2 values in
/// a sample or no variance at all.
TestResult welch_t_test(const SampleSummary& a, const SampleSummary& b);

/// Confidence interval of the difference of two expectations, that of `a` minus that of `b`, after Welch. @throws as
/// welch_t_test(), and for a level not in (0, 1).
Bounds difference_interval(const SampleSummary& a, const SampleSummary& b, double level = 0.95);

/// Mann and Whitney (1947), normal approximation with correction for ties: hypothesis "a value of one sample is as
/// often larger as smaller than one of the other". The statistic is U of `a`. Good from 8 values each on. @throws
/// DomainError for empty samples.
TestResult mann_whitney(const std::vector<double>& a, const std::vector<double>& b);

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
