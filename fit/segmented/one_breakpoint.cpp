#include <algorithm>
#include <cmath>
#include <limits>

#include "fit/segmented/segments.hpp"

namespace hplcast::fit::detail {

namespace {

/// Weighted regression that grows point by point (West 1979): central sums, hence no cancellation of large totals.
class RunningLine {
 public:
  explicit RunningLine(bool non_negative) : non_negative_(non_negative) {}

  void add(double x, double y, double w) {
    weight_ += w;
    const double dx = x - mean_x_, dy = y - mean_y_;
    const double share = w / weight_;
    mean_x_ += dx * share;
    mean_y_ += dy * share;
    xx_ += w * dx * (x - mean_x_);
    xy_ += w * dx * (y - mean_y_);
    yy_ += w * dy * (y - mean_y_);
  }

  double rss() const {
    if (xx_ <= 0) return yy_;
    const double slope = xy_ / xx_;
    if (!non_negative_ || (slope >= 0 && mean_y_ >= slope * mean_x_)) return std::max(0.0, yy_ - slope * xy_);
    const double raw_xx = xx_ + weight_ * mean_x_ * mean_x_, raw_xy = xy_ + weight_ * mean_x_ * mean_y_;
    const double proportional = yy_ + weight_ * mean_y_ * mean_y_ - raw_xy * raw_xy / raw_xx;
    return std::max(0.0, std::min(yy_, proportional));
  }

 private:
  bool non_negative_;
  double weight_ = 0, mean_x_ = 0, mean_y_ = 0, xx_ = 0, xy_ = 0, yy_ = 0;
};

/// The profiled log objective (see line.cpp) that grows point by point, on a fixed grid of rho; between the grid's
/// points a parabola through three of them.
class RunningLogLine {
 public:
  RunningLogLine(double least_log_x, double greatest_log_x) {
    constexpr double spacing = 0.75, beyond = 6;
    const double lower = -greatest_log_x - beyond, upper = -least_log_x + beyond;
    const auto count = static_cast<std::size_t>(std::ceil((upper - lower) / spacing)) + 1;
    for (std::size_t r = 0; r < count; ++r) bend_.push_back(std::exp(lower + spacing * static_cast<double>(r)));
    mean_.assign(count, 0);
    m2_.assign(count, 0);
  }

  void add(double x, double y, double w) {
    weight_ += w;
    const double share = w / weight_;
    for (std::size_t r = 0; r < bend_.size(); ++r) {
      const double z = y - std::log(1 + bend_[r] * x);
      const double step = z - mean_[r];
      mean_[r] += step * share;
      m2_[r] += w * step * (z - mean_[r]);
    }
  }

  double rss() const {
    const auto least = static_cast<std::size_t>(std::min_element(m2_.begin(), m2_.end()) - m2_.begin());
    if (least == 0 || least + 1 == m2_.size()) return m2_[least];
    const double left = m2_[least - 1], middle = m2_[least], right = m2_[least + 1];
    const double curvature = left - 2 * middle + right;
    if (curvature <= 0) return middle;
    return std::max(0.0, middle - (left - right) * (left - right) / (8 * curvature));
  }

 private:
  std::vector<double> bend_, mean_, m2_;  // bend: exp(rho)
  double weight_ = 0;
};

/// costs[k]: rss of the k points at the left (`forward`) or the right end of the range, for all k that leave at least
/// `min_sizes` on either side.
template <typename Running>
std::vector<double> end_costs(Running line, const Points& points, Range range, std::size_t min_sizes, bool forward) {
  std::vector<double> costs(range.size() + 1, std::numeric_limits<double>::infinity());
  for (std::size_t k = 1; k + min_sizes <= range.size(); ++k) {
    const std::size_t i = forward ? range.first + k - 1 : range.last - k;
    line.add(points.x[i], points.y[i], points.weight[i]);
    if (k >= min_sizes) costs[k] = line.rss();
  }
  return costs;
}

Split exact_split(const Points& points, Range range, double whole_rss, std::size_t at) {
  Split split{at, 0, fit_line(points, {range.first, at}), fit_line(points, {at, range.last})};
  split.gain = whole_rss - split.left.rss - split.right.rss;
  return split;
}

/// A symmetric 2 x 2 matrix.
struct Symmetric {
  double a = 0, b = 0, d = 0;

  void add(double weight, double u, double v) {
    a += weight * u * u;
    b += weight * u * v;
    d += weight * v * v;
  }
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
    information.add(points.weight[i], row.intercept, row.slope);
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
    scores.add(spread, row.intercept, row.slope);
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

Split best_split(const Points& points, Range range, const Line& whole, std::size_t min_sizes) {
  if (range.size() < 2 * min_sizes) return {};
  const auto costs = [&](bool forward) {
    if (points.objective != Objective::log)
      return end_costs(RunningLine(points.non_negative), points, range, min_sizes, forward);
    const std::size_t least = range.first + (points.x[range.first] == 0 ? 1 : 0);
    const RunningLogLine line(points.log_x[least], points.log_x[range.last - 1]);
    return end_costs(line, points, range, min_sizes, forward);
  };
  const std::vector<double> left = costs(true), right = costs(false);
  std::size_t best = min_sizes;
  for (std::size_t k = min_sizes; k + min_sizes <= range.size(); ++k)
    if (left[k] + right[range.size() - k] < left[best] + right[range.size() - best]) best = k;
  Split split = exact_split(points, range, whole.rss, range.first + best);
  for (std::size_t step : {std::size_t{4}, std::size_t{2}, std::size_t{1}}) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const bool up : {false, true}) {
        if (!up && split.at < range.first + min_sizes + step) continue;
        if (up && split.at + step + min_sizes > range.last) continue;
        const Split other = exact_split(points, range, whole.rss, up ? split.at + step : split.at - step);
        if (other.gain <= split.gain) continue;
        split = other;
        moved = true;
      }
    }
  }
  return split.gain > 0 ? split : Split{};
}

double same_line_probability(const Points& points, Range left, const Line& left_line, Range right,
                             const Line& right_line, double small) {
  if (std::min(left.size(), right.size()) < 3) return 1;
  const double robust = robust_probability(points, left, left_line, right, right_line);
  if (2 * robust <= small) return 2 * robust;
  const double local = local_probability(points, left, right);
  return std::min(1.0, 2 * std::min(robust, local));  // the better of two tests
}

}  // namespace hplcast::fit::detail
