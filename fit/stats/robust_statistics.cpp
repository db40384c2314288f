#include "fit/stats/robust_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::fit::detail {

namespace {

/// Between the values beside a place, counted from 0.
double at_place(const std::vector<double>& sorted, double place) {
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace

double quantile(const std::vector<double>& sorted, double probability) {
  return at_place(sorted, probability * static_cast<double>(sorted.size() - 1));
}

double quantile_of(std::vector<double> values, double probability) {
  std::sort(values.begin(), values.end());
  return quantile(values, probability);
}

void TrimmedMean::add(double value) {
  if (!(value > 0) || !std::isfinite(value)) throw core::DomainError("duration_s", value, "a finite number > 0");
  keep_in_reservoir(kept_, most_kept, ++count_, value);
}

double TrimmedMean::value(double share) const {
  if (empty()) return 0;
  std::vector<double> sorted = kept_;
  std::sort(sorted.begin(), sorted.end());
  const auto cut = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size()));
  return core::mean({sorted.begin() + cut, sorted.end() - cut});
}

namespace {

constexpr double normal_quantile = 1.959963984540054;  // of 97.5 %

/// Slopes grow with the square of the points; so many points per group tell enough.
constexpr std::size_t most_points = 1000;

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= most_points) return points;
  std::vector<Point> some;
  for (std::size_t i = 0; i < most_points; ++i) some.push_back(points[i * points.size() / most_points]);
  return some;
}

void add_slopes(const std::vector<Point>& points, std::vector<double>& slopes) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = points[i].x - points[j].x;
      if (dx != 0) slopes.push_back((points[i].y - points[j].y) / dx);
    }
  }
}

double score_term(double count) {
  return count * (count - 1) * (2 * count + 5) / 18;
}

/// Variance of Kendall's score of a group without trend, less that of the points with equal x.
double score_variance(const std::vector<Point>& points) {
  std::vector<double> xs;
  for (const Point& point : points) xs.push_back(point.x);
  std::sort(xs.begin(), xs.end());
  double variance = score_term(static_cast<double>(xs.size()));
  for (auto begin = xs.begin(); begin != xs.end();) {
    const auto end = std::upper_bound(begin, xs.end(), *begin);
    variance -= score_term(static_cast<double>(end - begin));
    begin = end;
  }
  return variance;
}

/// Value of a sorted list at a rank from 1 that may lie between two, or outside.
double at_rank(const std::vector<double>& sorted, double rank) {
  return at_place(sorted, std::clamp(rank - 1, 0.0, static_cast<double>(sorted.size() - 1)));
}

/// The median, and the interval of so many ranks on either side of it.
RobustEstimate median_of(const std::vector<double>& sorted, double ranks) {
  const double middle = static_cast<double>(sorted.size()) / 2;
  return {quantile(sorted, 0.5), at_rank(sorted, middle - ranks), at_rank(sorted, middle + 1 + ranks)};
}

}  // namespace

std::optional<RobustEstimate> theil_sen_slope(const std::vector<std::vector<Point>>& groups) {
  std::vector<double> slopes;
  double variance = 0;
  for (const std::vector<Point>& group : groups) {
    const std::vector<Point> points = thinned(group);
    add_slopes(points, slopes);
    variance += score_variance(points);
  }
  if (slopes.empty()) return std::nullopt;
  std::sort(slopes.begin(), slopes.end());
  return median_of(slopes, normal_quantile * std::sqrt(variance) / 2);
}

RobustEstimate median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median_of(values, normal_quantile * std::sqrt(static_cast<double>(values.size())) / 2);
}

}  // namespace hplcast::fit::detail
