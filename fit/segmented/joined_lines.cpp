#include "fit/segmented/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit::detail {

namespace {

/// Columns of start + sum slopes[j] * (length of [0, x] inside segment j).
std::vector<std::vector<double>> basis(const std::vector<double>& x, const std::vector<double>& knots) {
  std::vector<std::vector<double>> columns(knots.size() + 2, std::vector<double>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    columns[0][i] = 1;
    for (std::size_t j = 0; j <= knots.size(); ++j) {
      const double from = j == 0 ? 0 : knots[j - 1];
      const double to = j == knots.size() ? std::numeric_limits<double>::infinity() : knots[j];
      columns[j + 1][i] = std::clamp(x[i], from, to) - from;
    }
  }
  return columns;
}

double value(const std::vector<std::vector<double>>& columns, const std::vector<double>& c, std::size_t i) {
  double sum = 0;
  for (std::size_t j = 0; j < c.size(); ++j) sum += c[j] * columns[j][i];
  return sum;
}

double objective_of(const Points& points, const std::vector<std::vector<double>>& columns,
                    const std::vector<double>& c) {
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double f = value(columns, c, i);
    const double residual = points.y[i] - (points.objective == Objective::log ? std::log(f) : f);
    sum += points.weight[i] * residual * residual;
  }
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

/// Gauss and Newton's iteration for the logarithmic objective: log f is linear in f/f0 near f0, so that each step is a
/// weighted problem with non-negative coefficients; the first one minimises relative errors.
std::vector<double> solve_log(const Points& points, RegressionData& data) {
  const LeastSquaresOptions non_negative{true};
  data.y.resize(points.size());
  data.weights.resize(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    data.y[i] = std::exp(points.y[i]);
    data.weights[i] = points.weight[i] / (data.y[i] * data.y[i]);
  }
  std::vector<double> best = solve_least_squares(data, non_negative).coefficients;
  double least = objective_of(points, data.columns, best);
  constexpr int max_iterations = 50;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double f = std::max(value(data.columns, best, i), 1e-6 * std::exp(points.y[i]));  // 0 has no logarithm
      data.y[i] = f * (1 + points.y[i] - std::log(f));
      data.weights[i] = points.weight[i] / (f * f);
    }
    const std::vector<double> step = solve_least_squares(data, non_negative).coefficients;
    bool better = false;
    for (double share = 1; share > 1e-3 && !better; share /= 4) {
      std::vector<double> c = best;
      for (std::size_t j = 0; j < c.size(); ++j) c[j] += share * (step[j] - best[j]);
      const double objective = objective_of(points, data.columns, c);
      if (!(objective < least)) continue;
      better = !std::isfinite(least) || least - objective > 1e-12 * least;
      least = objective;
      best = std::move(c);
    }
    if (!better) break;
  }
  return best;
}

std::size_t sizes_between(const Points& points, double from, double to) {
  const auto first = std::lower_bound(points.x.begin(), points.x.end(), from);
  return static_cast<std::size_t>(std::lower_bound(first, points.x.end(), to) - first);
}

/// Knots strictly between two sizes with enough sizes on either side.
bool possible(const Points& points, const std::vector<double>& knots, std::size_t min_sizes) {
  double from = -1;
  for (double knot : knots) {
    if (!(knot > from) || sizes_between(points, from, knot) < min_sizes) return false;
    from = knot;
  }
  return sizes_between(points, from, std::numeric_limits<double>::infinity()) >= min_sizes;
}

/// Looks left and right of one knot by factors that shrink.
void move_knot(const Points& points, JoinedLines& lines, std::size_t which, std::size_t min_sizes) {
  double step = 1;
  for (int halving = 0; halving < 9; ++halving) {  // to a thousandth
    step /= 2;
    for (bool moved = true; moved;) {
      moved = false;
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        std::vector<double> knots = lines.knots;
        knots[which] *= factor;
        if (!possible(points, knots, min_sizes)) continue;
        JoinedLines other = fit_joined(points, knots);
        if (!(other.rss < lines.rss * (1 - 1e-9))) continue;
        lines = std::move(other);
        moved = true;
      }
    }
  }
}

double joined_bic(const Points& points, const JoinedLines& lines) {
  return bic(points, points.within + lines.rss, lines.slopes.size(), true);
}

void settle(const Points& points, JoinedLines& lines, std::size_t min_sizes) {
  constexpr int max_rounds = 5;
  for (int round = 0; round < max_rounds; ++round) {
    const double before = lines.rss;
    for (std::size_t i = 0; i < lines.knots.size(); ++i) move_knot(points, lines, i, min_sizes);
    if (!(lines.rss < before * (1 - 1e-6))) return;
  }
}

}  // namespace

JoinedLines fit_joined(const Points& points, const std::vector<double>& knots) {
  RegressionData data;
  data.columns = basis(points.x, knots);
  std::vector<double> c;
  JoinedLines lines;
  if (points.objective == Objective::log) {
    c = solve_log(points, data);
  } else {
    data.y = points.y;
    data.weights = points.weight;
    c = solve_least_squares(data, LeastSquaresOptions{points.non_negative}).coefficients;
  }
  lines.rss = objective_of(points, data.columns, c);
  lines.knots = knots;
  lines.start = c[0];
  lines.slopes.assign(c.begin() + 1, c.end());
  return lines;
}

JoinedLines refine_joined(const Points& points, const std::vector<double>& knots, std::size_t min_sizes) {
  JoinedLines lines = fit_joined(points, knots);
  settle(points, lines, min_sizes);
  while (!lines.knots.empty()) {
    JoinedLines best;
    for (std::size_t i = 0; i < lines.knots.size(); ++i) {
      std::vector<double> fewer = lines.knots;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      JoinedLines other = fit_joined(points, fewer);
      if (best.slopes.empty() || other.rss < best.rss) best = std::move(other);
    }
    settle(points, best, min_sizes);
    if (!(joined_bic(points, best) <= joined_bic(points, lines))) break;
    lines = std::move(best);
  }
  return lines;
}

}  // namespace hplcast::fit::detail
