#include "fit/segmented/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hplcast::fit::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Weighted means and central sums of a range, in two passes.
struct Moments {
  double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
};

Moments moments(const Points& points, Range range) {
  Moments m;
  for (std::size_t i = range.first; i < range.last; ++i) {
    m.weight += points.weight[i];
    m.mean_x += points.weight[i] * points.x[i];
    m.mean_y += points.weight[i] * points.y[i];
  }
  m.mean_x /= m.weight;
  m.mean_y /= m.weight;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const double dx = points.x[i] - m.mean_x, dy = points.y[i] - m.mean_y;
    m.xx += points.weight[i] * dx * dx;
    m.xy += points.weight[i] * dx * dy;
    m.yy += points.weight[i] * dy * dy;
  }
  return m;
}

Line linear_line(const Points& points, Range range) {
  const Moments m = moments(points, range);
  const auto with_rss = [&](double intercept, double slope) {
    Line line{intercept, slope, 0};
    line.rss = residual_sum(points, range, line);
    return line;
  };
  const double slope = m.xx > 0 ? m.xy / m.xx : 0;
  const double intercept = m.mean_y - slope * m.mean_x;
  if (!points.non_negative || (slope >= 0 && intercept >= 0)) return with_rss(intercept, slope);
  // The sum of squares is convex: with the free optimum outside, the best point of the quadrant lies on one of its
  // edges.
  const double raw_xx = m.xx + m.weight * m.mean_x * m.mean_x, raw_xy = m.xy + m.weight * m.mean_x * m.mean_y;
  const Line flat = with_rss(std::max(0.0, m.mean_y), 0);
  const Line proportional = with_rss(0, raw_xx > 0 ? std::max(0.0, raw_xy / raw_xx) : 0);
  return flat.rss <= proportional.rss ? flat : proportional;
}

/// The log objective with the scale of the line eliminated: f(x) = exp(s) (1 + exp(rho) x), whose best s for a given
/// rho is a mean (variable projection, Golub and Pereyra 1973). What is left is a function of rho alone, of which
/// value, first and second derivative cost one pass. rho -> -infinity is a constant, rho -> infinity a line through the
/// origin.
class LogProfile {
 public:
  LogProfile(const Points& points, Range range) : points_(points), range_(range) {
    for (std::size_t i = range.first; i < range.last; ++i) weight_ += points.weight[i];
  }

  struct Value {
    double cost = 0, first = 0, second = 0, log_scale = 0;
  };

  /// The value alone, to the precision that choosing between candidates needs.
  double cost(double rho) const {
    const double bend = std::exp(rho);
    const double shift = points_.y[range_.first] - std::log(1 + bend * points_.x[range_.first]);
    double sum = 0, squares = 0;
    for (std::size_t i = range_.first; i < range_.last; ++i) {
      const double z = points_.y[i] - std::log(1 + bend * points_.x[i]) - shift;
      sum += points_.weight[i] * z;
      squares += points_.weight[i] * z * z;
    }
    return squares - sum * sum / weight_;
  }

  Value at(double rho) const {
    z_.resize(range_.size());
    sigma_.resize(range_.size());
    const double bend = std::exp(rho);
    double mean_z = 0, mean_sigma = 0;
    for (std::size_t k = 0; k < range_.size(); ++k) {
      const std::size_t i = range_.first + k;
      const double u = bend * points_.x[i];
      z_[k] = points_.y[i] - std::log(1 + u);
      sigma_[k] = u / (1 + u);
      mean_z += points_.weight[i] * z_[k];
      mean_sigma += points_.weight[i] * sigma_[k];
    }
    mean_z /= weight_;
    mean_sigma /= weight_;
    Value value;
    value.log_scale = mean_z;
    for (std::size_t k = 0; k < range_.size(); ++k) {
      const double w = points_.weight[range_.first + k];
      const double dz = z_[k] - mean_z, ds = sigma_[k] - mean_sigma;
      value.cost += w * dz * dz;
      value.first -= 2 * w * dz * ds;
      value.second += 2 * w * (ds * ds - dz * sigma_[k] * (1 - sigma_[k]));
    }
    return value;
  }

 private:
  const Points& points_;
  Range range_;
  double weight_ = 0;
  mutable std::vector<double> z_, sigma_;  // scratch
};

/// Root of the first derivative between lower and upper, which hold a minimum: Newton, halving when it leaves the
/// bracket.
double minimise(const LogProfile& profile, double lower, double upper, double start) {
  double rho = start;
  for (int iteration = 0; iteration < 60; ++iteration) {
    const LogProfile::Value value = profile.at(rho);
    if (value.first == 0) break;
    (value.first > 0 ? upper : lower) = rho;
    double next = value.second > 0 ? rho - value.first / value.second : lower;
    if (!(next > lower && next < upper)) next = 0.5 * (lower + upper);
    const double step = std::abs(next - rho);
    rho = next;
    if (step <= 1e-14 * std::max(1.0, std::abs(rho)) || upper - lower <= 1e-14 * std::max(1.0, std::abs(rho))) break;
  }
  return rho;
}

/// Candidates for rho: where the bend 1/exp(rho) lies inside the sizes, and ever coarser towards the two limits. The
/// profile has no structure finer than about one unit of rho, since its parts are functions of exp(rho) x.
std::vector<double> rho_grid(double least_log_x, double greatest_log_x) {
  constexpr double spacing = 1.5;
  const double lower = -greatest_log_x, upper = -least_log_x;
  std::vector<double> grid = {lower - 30, lower - 18, lower - 11, lower - 7, lower - 4.5, lower - 3, lower - 1.5};
  const int inside = std::max(1, static_cast<int>(std::ceil((upper - lower) / spacing)));
  for (int i = 0; i <= inside; ++i) grid.push_back(lower + (upper - lower) * i / inside);
  for (double beyond : {1.5, 3.0, 4.5, 7.0, 11.0, 18.0, 30.0}) grid.push_back(upper + beyond);
  return grid;
}

/// The constant, or else the line through the origin: one of the two limits.
Line limit_log_line(const Points& points, Range range, bool constant) {
  double weight = 0, mean = 0;
  for (std::size_t i = range.first; i < range.last; ++i) {
    weight += points.weight[i];
    mean += points.weight[i] * (constant ? points.y[i] : points.y[i] - points.log_x[i]);
  }
  Line line;
  (constant ? line.intercept : line.slope) = std::exp(mean / weight);
  line.rss = residual_sum(points, range, line);
  return line;
}

Line log_line(const Points& points, Range range) {
  Line best = limit_log_line(points, range, true);
  if (range.size() == 1) return best;
  const bool has_zero = points.x[range.first] == 0;
  const std::size_t least = range.first + (has_zero ? 1 : 0);
  if (!has_zero) {
    const Line proportional = limit_log_line(points, range, false);
    if (proportional.rss < best.rss) best = proportional;
  }
  const LogProfile profile(points, range);
  const std::vector<double> grid = rho_grid(points.log_x[least], points.log_x[range.last - 1]);
  std::size_t at = 0;
  double least_cost = infinity;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const double cost = profile.cost(grid[i]);
    if (cost < least_cost) {
      least_cost = cost;
      at = i;
    }
  }
  if (at == 0 || at + 1 == grid.size()) return best;  // one of the two limits
  const double rho = minimise(profile, grid[at - 1], grid[at + 1], grid[at]);
  const double log_scale = profile.at(rho).log_scale;
  Line line{std::exp(log_scale), std::exp(log_scale + rho), 0};
  line.rss = residual_sum(points, range, line);
  return line.rss < best.rss ? line : best;
}

}  // namespace

Points make_points(const std::vector<SizeCell>& cells, Objective objective, bool non_negative) {
  Points points;
  points.objective = objective;
  points.non_negative = non_negative || objective == Objective::log;
  double scale = 0;
  for (const SizeCell& cell : cells) {
    const auto rows = static_cast<double>(cell.rows);
    const bool log = objective == Objective::log;
    const double per_row = objective == Objective::weighted ? 1 / cell.size : 1;
    points.x.push_back(cell.size);
    points.y.push_back(log ? cell.mean_log : cell.mean);
    points.weight.push_back(rows * per_row);
    if (log) points.log_x.push_back(std::log(cell.size));
    points.rows.push_back(cell.rows);
    points.within += per_row * (log ? cell.m2_log : cell.m2);
    points.total_rows += cell.rows;
    scale = std::max(scale, log ? 1.0 : per_row * cell.mean * cell.mean);
  }
  constexpr double rounding = 1e-12;  // of a duration: some thousand times the precision of a double
  points.floor = static_cast<double>(points.total_rows) * rounding * rounding * scale;
  return points;
}

Line fit_line(const Points& points, Range range) {
  return points.objective == Objective::log ? log_line(points, range) : linear_line(points, range);
}

double residual_sum(const Points& points, Range range, const Line& line) {
  double sum = 0;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const double f = line.at(points.x[i]);
    const double residual = points.y[i] - (points.objective == Objective::log ? std::log(f) : f);
    sum += points.weight[i] * residual * residual;
  }
  return std::isnan(sum) ? infinity : sum;
}

double bic(const Points& points, double rss, std::size_t segments, bool continuous) {
  const auto rows = static_cast<double>(points.total_rows);
  const auto count = static_cast<double>(segments);
  const double parameters = (continuous ? 2 * count : 3 * count - 1) + 1;
  return rows * std::log(std::max(rss, points.floor) / rows) + parameters * std::log(rows);
}

}  // namespace hplcast::fit::detail
