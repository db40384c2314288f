#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit::detail {

/// Takes the value number `count` into a mean and a sum of squared deviations from it (Welford 1962: exact to rounding
/// whatever the order of magnitude).
inline void update_moments(double count, double value, double& mean, double& squares) {
  const double step = value - mean;
  mean += step / count;
  squares += step * (value - mean);
}

/// Quantile with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double probability);

/// The same of values in any order.
double quantile_of(std::vector<double> values, double probability);

/// Mean of positive values without the lowest and the highest of them; of more than `most_kept` that of a sample.
class TrimmedMean {
 public:
  static constexpr std::size_t most_kept = 100000;

  /// @throws DomainError unless the value is finite and above 0.
  void add(double value);
  bool empty() const noexcept { return count_ == 0; }
  /// Without the lowest and the highest `share` (0 to below 0.5) of the values, rounded down; 0 if there are none.
  double value(double share) const;

 private:
  std::vector<double> kept_;
  long count_ = 0;
};

struct Point {
  double x = 0, y = 0;
};

/// A number with its 95 % interval.
struct RobustEstimate {
  double value = 0, low = 0, high = 0;
};

/// The common slope of points in groups, each of which has an intercept of its own: the median of the slopes between
/// any two points of a group that differ in x (Theil 1950). Interval by the normal approximation of Kendall's score
/// (Sen 1968, eq. 2.6 with ties; the variances of the groups add up). Nothing if no two points differ in x.
std::optional<RobustEstimate> theil_sen_slope(const std::vector<std::vector<Point>>& groups);

/// The median of values (at least one), and the interval between the order statistics that hold it with 95 %
/// (binomial, normal approximation).
RobustEstimate median_interval(std::vector<double> values);

/// Keeps a uniform sample of at most `capacity` of the values that come by (Vitter 1985, algorithm R). `seen` counts
/// this value, too. The same values in the same order give the same sample.
inline void keep_in_reservoir(std::vector<double>& sample, std::size_t capacity, long seen, double value) {
  if (sample.size() < capacity) {
    sample.push_back(value);
    return;
  }
  const core::StreamName stream{0, core::stream_fit, 0, 0};
  const double at = core::draw(stream, static_cast<std::uint64_t>(seen)).uniform * static_cast<double>(seen);
  if (at < static_cast<double>(capacity)) sample[static_cast<std::size_t>(at)] = value;
}

}  // namespace hplcast::fit::detail
