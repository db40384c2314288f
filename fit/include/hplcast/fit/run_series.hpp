#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

/// Does a new campaign belong to the earlier ones? Prediction regions of the normal distribution (V. Chew,
/// Confidence, prediction and tolerance regions for the multivariate normal distribution, JASA 61, 1966).
namespace hplcast::fit {

/// Quantile of F with `p` and `n - p` degrees of freedom. @throws core::DomainError unless 0 < confidence < 1, p >= 1
/// and n > p.
double f_limit(double confidence, std::size_t p, std::size_t n);

/// Upper tail of F with `p` and `n - p` degrees of freedom: how likely such a statistic is without any change.
/// @throws core::DomainError as f_limit().
double f_tail(double statistic, std::size_t p, std::size_t n);

/// Variance of the mean of some runs times their number, if runs that follow on each other correlate by
/// `autocorrelation` (first order: 1 + 2 sum over k < runs of (1 - k / runs) a^k). Not 1.
double variance_inflation(double autocorrelation, double runs);
/// The same of very many runs.
inline double variance_inflation(double autocorrelation) {
  return (1 + autocorrelation) / (1 - autocorrelation);
}

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
  double covariance(std::size_t i, std::size_t j) const {
    return count_ < 2 ? 0 : products_[i * mean_.size() + j] / static_cast<double>(count_ - 1);
  }
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

/// Results of repeated campaigns for one CPU, in the order of time. All vectors have one entry per run.
struct RunSeries {
  std::size_t dimensions = 1;      ///< factors per run
  std::vector<double> values;      ///< `dimensions` per run, finite
  std::vector<bool> outlier;       ///< logged as one by the operator: never part of a reference
  std::vector<std::size_t> epoch;  ///< number of changes before the run, never falls: a change begins a new reference

  std::size_t runs() const noexcept { return outlier.size(); }
  const double* run(std::size_t i) const noexcept { return values.data() + i * dimensions; }
};

/// Where a run, or the mean of the latest runs, lies with respect to the region that the earlier runs predict.
enum class Region {
  untested,  ///< too few earlier runs
  inside,
  below,    ///< of one factor
  above,    ///< of one factor
  outside,  ///< of several factors: no side
};

bool is_flagged(Region region);

struct RunScore {
  Region region = Region::untested;
  bool is_kept_out = false;        ///< so far off that it enters no reference, flagged or not
  std::size_t reference_runs = 0;  ///< earlier runs that it was compared with
  double statistic = 0;            ///< chew_statistic(); f_tail() makes a probability of it
  double observed = 0;             ///< the run, or the mean of the window; first factor
  double expected = 0;             ///< mean of the earlier runs; first factor
  double sd = 0;                   ///< standard deviation of the earlier runs; first factor
  double half_width = 0;           ///< of the interval around `expected`; one factor only
  double autocorrelation = 0;      ///< of earlier runs that follow on each other; windows of one factor only
  /// For flagged windows: still flagged without the run that is farthest off, so that one bad run is no trend. With
  /// a median: four fifths of the runs show a quarter of it.
  bool without_worst = false;
};

struct RunTestOptions {
  double confidence = 0.9999;
  std::size_t window = 1;       ///< the median of as many latest runs is tested; of 2, and of several factors, the mean
  std::size_t least_runs = 10;  ///< earlier runs that a test needs
  double least_sd = 1e-4;       ///< least standard deviation as a share of the mean
  /// Runs beyond this confidence (or `confidence`, if that is higher) enter no reference. A normal law that is cut at
  /// its k = 3.89 has a variance 2 k phi(k) / 0.9999 = 0.16 % too small; at 0.95 it would be 24 %, and again of what is
  /// left: 31 % of days with a false alarm in place of 5.
  double kept_out_confidence = 0.9999;
};

/// Our way: a run enters the reference when it has left the window, and never if it, or the window that it is the
/// oldest of, is beyond `kept_out_confidence`. So a change that lasts stays visible until it is logged as a change, and
/// the reference is the same for every confidence below that: a lower one finds more, not others. Logged outliers are
/// tested alone (window 1), and belong to no window. The median of r runs differs from that of n earlier ones if it is
/// farther away than t s sqrt(c v_r + (pi / 2) v_n / n): t the two-sided quantile of Student's law, s the
/// standard deviation of the earlier runs, c the variance of the median of r normal numbers (0.287 for 5), v the
/// inflation by their autocorrelation: heavy tails, a bad run, days that are like the days before are no trend.
class RunTests {
 public:
  /// @throws core::DomainError for a confidence outside (0, 1), a window of 0, fewer runs than 2, a negative least_sd.
  explicit RunTests(const RunTestOptions& options);

  /// One score per run; that of a window belongs to its last run. `kept_out`: runs that must not enter the reference,
  /// such as those flagged alone; empty: none. @throws core::DomainError for lengths that differ, epochs that fall,
  /// values that are not finite.
  std::vector<RunScore> scores(const RunSeries& series, const std::vector<bool>& kept_out = {});

 private:
  struct Limits {
    double flagged, kept_out;
  };
  const Limits& limits(std::size_t p, std::size_t n);
  RunScore score(const ReferenceRuns& reference, const std::vector<double>& mean, std::size_t r);

  RunTestOptions options_;
  std::map<std::pair<std::size_t, std::size_t>, Limits> limits_;  // quantiles take longer than all the rest
};

struct PublishedTestOptions : RunTestOptions {
  std::size_t keep = 5;  ///< first runs after a change that are still compared with the runs before
  /// The published program takes mean and standard deviation of the reference before the window, but the number of
  /// runs before the last run.
  bool count_before_last = false;
};

/// The published way (T. Cornebize, thesis 2021, program cashew), to compare with its numbers. Every run that is no
/// logged outlier enters the reference, also a flagged one, so that a change hides itself after a few runs; means of
/// windows contain logged outliers; a logged outlier is compared with what the run before it was compared with.
std::vector<RunScore> published_scores(const RunSeries& series, const PublishedTestOptions& options);

}  // namespace hplcast::fit
