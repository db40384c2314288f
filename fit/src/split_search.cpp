#include "split_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

/// costs[k]: rss of the k points at one end of the range, for all k that leave at least `min_sizes` on either side.
template <typename Add, typename Rss>
std::vector<double> running_costs(std::size_t count, std::size_t min_sizes, Add add, Rss rss) {
  std::vector<double> costs(count + 1, std::numeric_limits<double>::infinity());
  for (std::size_t k = 1; k + min_sizes <= count; ++k) {
    add(k - 1);
    if (k >= min_sizes) costs[k] = rss();
  }
  return costs;
}

/// Costs from the left (`forward`) or from the right end.
std::vector<double> end_costs(const Points& points, Range range, std::size_t min_sizes, bool forward) {
  const auto index = [&](std::size_t k) { return forward ? range.first + k : range.last - 1 - k; };
  if (points.objective == Objective::log) {
    const std::size_t least = range.first + (points.x[range.first] == 0 ? 1 : 0);
    RunningLogLine line(points.log_x[least], points.log_x[range.last - 1]);
    return running_costs(
        range.size(), min_sizes,
        [&](std::size_t k) { line.add(points.x[index(k)], points.y[index(k)], points.weight[index(k)]); },
        [&] { return line.rss(); });
  }
  RunningLine line(points.non_negative);
  return running_costs(
      range.size(), min_sizes,
      [&](std::size_t k) { line.add(points.x[index(k)], points.y[index(k)], points.weight[index(k)]); },
      [&] { return line.rss(); });
}

Split exact_split(const Points& points, Range range, double whole_rss, std::size_t at) {
  Split split{at, 0, fit_line(points, {range.first, at}), fit_line(points, {at, range.last})};
  split.gain = whole_rss - split.left.rss - split.right.rss;
  return split;
}

}  // namespace

Split best_split(const Points& points, Range range, const Line& whole, std::size_t min_sizes) {
  if (range.size() < 2 * min_sizes) return {};
  const std::vector<double> left = end_costs(points, range, min_sizes, true);
  const std::vector<double> right = end_costs(points, range, min_sizes, false);
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

}  // namespace hplcast::fit::detail
