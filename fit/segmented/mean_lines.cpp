#include <algorithm>
#include <cmath>

#include "fit/segmented/segments.hpp"

namespace hplcast::fit {

namespace {

using detail::Line;
using detail::Points;

/// Mean of y / f over all rows.
double mean_ratio(const Points& points, const Line& line) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    sum += static_cast<double>(points.rows[i]) * points.y[i] / line.at(points.x[i]);
  return sum / static_cast<double>(points.total_rows);
}

/// Iterated weights rows / f^2 (Fisher's scoring), from f = the mean of each size. On the bounds, where the equations
/// of the free line do not hold, and where it has not converged, the line is multiplied by the mean of y / f. The
/// points keep the weights.
Line mean_line(Points& points) {
  constexpr int most_iterations = 200;
  constexpr double exact = 1e-13;
  std::vector<double> expected = points.y;
  Line line;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    // In relation to the first: squares of nanoseconds leave the range where products are exact.
    for (std::size_t i = 0; i < points.size(); ++i)
      points.weight[i] = static_cast<double>(points.rows[i]) * std::pow(expected[0] / expected[i], 2);
    line = detail::fit_line(points, {0, points.size()});
    double change = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      // A line through zero costs nothing at size 0.
      const double next = std::max(line.at(points.x[i]), 1e-6 * points.y[i]);
      change = std::max(change, std::abs(next / expected[i] - 1));
      expected[i] = next;
    }
    if (change < exact) break;
  }
  const double ratio = mean_ratio(points, line);
  if (std::isfinite(ratio)) return {line.intercept * ratio, line.slope * ratio, 0};
  return {mean_ratio(points, {1, 0, 0}), 0, 0};  // a line through zero, and messages of no bytes: a constant instead
}

/// `segment` with its line, or the segments that it is divided into.
void add_segments(const std::vector<SizeCell>& cells, FittedSegment segment, const SegmentedOptions* search,
                  std::vector<FittedSegment>& result) {
  Points points = detail::make_points(cells, Objective::ols, true);
  Line line = mean_line(points);
  const std::size_t end = points.size(), least = search ? static_cast<std::size_t>(search->min_sizes) : end;
  if (end >= 2 * least) {
    line.rss = detail::residual_sum(points, {0, end}, line);
    const detail::Split split = detail::best_split(points, {0, end}, line, least);
    const double level = search->significance / static_cast<double>(end - 2 * least + 1);  // places it could be at
    if (split.gain > 0 && detail::same_line_probability(points, {0, split.at}, split.left, {split.at, end}, split.right,
                                                        level) <= level) {
      const auto middle = cells.begin() + static_cast<std::ptrdiff_t>(split.at);
      add_segments({cells.begin(), middle}, segment, search, result);
      segment.min = detail::between(points.x[split.at - 1], points.x[split.at]);
      return add_segments({middle, cells.end()}, segment, search, result);
    }
  }
  segment.intercept = line.intercept;
  segment.slope = line.slope;
  segment.n = points.total_rows;
  segment.sizes = static_cast<long>(end);
  result.push_back(segment);
}

}  // namespace

std::vector<FittedSegment> fit_means(const std::vector<SizeCell>& cells, const std::vector<FittedSegment>& segments,
                                     const SegmentedOptions* search) {
  std::vector<FittedSegment> result;
  for (const FittedSegment& segment : segments) {
    std::vector<SizeCell> inside;
    for (const SizeCell& cell : cells)
      if (&segment_at(segments, cell.size) == &segment) inside.push_back(cell);
    if (inside.empty()) {
      result.push_back(segment);
    } else {
      add_segments(inside, segment, search, result);
    }
  }
  return result;
}

}  // namespace hplcast::fit
