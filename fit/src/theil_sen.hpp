#pragma once

#include <optional>
#include <vector>

namespace hplcast::fit::detail {

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

}  // namespace hplcast::fit::detail
