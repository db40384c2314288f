#include "break_test.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::fit::detail {

namespace {

/// A symmetric 2 x 2 matrix.
struct Symmetric {
  double a = 0, b = 0, d = 0;

  double determinant() const { return a * d - b * b; }
  Symmetric inverse() const {
    const double det = determinant();
    return {d / det, -b / det, a / det};
  }
  bool singular() const { return !(determinant() > 1e-13 * a * d); }
  double form(double u, double v) const { return a * u * u + 2 * b * u * v + d * v * v; }
};

/// m s m
Symmetric sandwich(const Symmetric& m, const Symmetric& s) {
  const double p = m.a * s.a + m.b * s.b, q = m.a * s.b + m.b * s.d;  // first row of m s
  const double r = m.b * s.a + m.d * s.b, t = m.b * s.b + m.d * s.d;  // second row
  return {p * m.a + q * m.b, p * m.b + q * m.d, r * m.b + t * m.d};
}

/// Derivatives of what the objective compares, by intercept and by slope * unit.
struct Row {
  double intercept, slope, residual;
};

Row row_of(const Points& points, std::size_t i, const Line& line, double unit) {
  const double f = line.at(points.x[i]);
  if (points.objective == Objective::log) return {1 / f, points.x[i] / unit / f, points.y[i] - std::log(f)};
  return {1, points.x[i] / unit, points.y[i] - f};
}

/// HC3 covariance of (intercept, slope * unit); false if the sizes do not determine both.
bool robust_covariance(const Points& points, Range range, const Line& line, double unit, Symmetric& result) {
  Symmetric information;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const Row row = row_of(points, i, line, unit);
    information.a += points.weight[i] * row.intercept * row.intercept;
    information.b += points.weight[i] * row.intercept * row.slope;
    information.d += points.weight[i] * row.slope * row.slope;
  }
  if (information.singular()) return false;
  const Symmetric inverse = information.inverse();
  const double least_square = points.floor / static_cast<double>(points.total_rows);
  Symmetric scores;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const Row row = row_of(points, i, line, unit);
    const double w = points.weight[i];
    const double leverage = std::min(w * inverse.form(row.intercept, row.slope), 1 - 1e-6);
    const double spread = w * w * (row.residual * row.residual + least_square) / ((1 - leverage) * (1 - leverage));
    scores.a += spread * row.intercept * row.intercept;
    scores.b += spread * row.intercept * row.slope;
    scores.d += spread * row.slope * row.slope;
  }
  result = sandwich(inverse, scores);
  return true;
}

/// Tail of F(2, degrees) at f.
double tail(double f, double degrees) {
  return std::pow(1 + 2 * std::max(0.0, f) / degrees, -degrees / 2);
}

/// Wald's test on all points of both sides.
double robust_probability(const Points& points, const Range& left, const Line& left_line, const Range& right,
                          const Line& right_line) {
  const double unit = points.x[right.first];
  Symmetric of_left, of_right;
  if (!robust_covariance(points, left, left_line, unit, of_left)) return 1;
  if (!robust_covariance(points, right, right_line, unit, of_right)) return 1;
  const Symmetric both{of_left.a + of_right.a, of_left.b + of_right.b, of_left.d + of_right.d};
  if (!(both.determinant() > 0)) return 1;
  const double wald =
      both.inverse().form(right_line.intercept - left_line.intercept, (right_line.slope - left_line.slope) * unit);
  return tail(wald / 2, static_cast<double>(std::min(left.size(), right.size()) - 2));
}

/// Chow's test (1960) on the points next to the breakpoint, where the noise changes little. Of the noise on either side
/// the greater counts.
double local_probability(const Points& points, Range left, Range right) {
  constexpr std::size_t near_sizes = 20;
  if (left.size() > near_sizes) left.first = left.last - near_sizes;
  if (right.size() > near_sizes) right.last = right.first + near_sizes;
  const double on_left = fit_line(points, left).rss, on_right = fit_line(points, right).rss;
  const double together = fit_line(points, {left.first, right.last}).rss;
  const auto left_degrees = static_cast<double>(left.size() - 2), right_degrees = static_cast<double>(right.size() - 2);
  const double noise = std::max(
      {on_left / left_degrees, on_right / right_degrees, points.floor / static_cast<double>(points.total_rows)});
  return tail((together - on_left - on_right) / 2 / noise, left_degrees + right_degrees);
}

}  // namespace

double same_line_probability(const Points& points, Range left, const Line& left_line, Range right,
                             const Line& right_line, double small) {
  if (std::min(left.size(), right.size()) < 3) return 1;
  const double robust = robust_probability(points, left, left_line, right, right_line);
  if (2 * robust <= small) return 2 * robust;
  const double local = local_probability(points, left, right);
  return std::min(1.0, 2 * std::min(robust, local));  // the better of two tests
}

}  // namespace hplcast::fit::detail
