#pragma once

#include <cstddef>
#include <vector>

#include "hplcast/fit/segmented_regression.hpp"

namespace hplcast::fit::detail {

/// The data of a regression as arrays, ascending by x, one entry a distinct size.
struct Points {
  Objective objective = Objective::ols;
  bool non_negative = false;
  std::vector<double> x;
  std::vector<double> y;       ///< mean duration, or for log the mean of the logarithms
  std::vector<double> weight;  ///< rows (ols, log) or rows / x (weighted)
  std::vector<double> log_x;   ///< for log only; -infinity for x = 0
  std::vector<long> rows;
  double within = 0;  ///< sum of squares inside the sizes: no line can take it away
  long total_rows = 0;
  double floor = 0;  ///< of the rss: what rounding leaves of exact data

  std::size_t size() const noexcept { return x.size(); }
};

Points make_points(const std::vector<SizeCell>& cells, Objective objective, bool non_negative);

/// Points first <= i < last.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size() const noexcept { return last - first; }
};

struct Line {
  double intercept = 0;
  double slope = 0;
  double rss = 0;  ///< without the part inside the sizes
  double at(double x) const noexcept { return intercept + slope * x; }
};

/// The best line through a range of points, range.size() >= 1. With one size the slope is 0.
Line fit_line(const Points& points, Range range);

/// Objective of a given line, without the part inside the sizes.
double residual_sum(const Points& points, Range range, const Line& line);

/// BIC of `segments` lines whose rss (with the part inside the sizes) is given.
double bic(const Points& points, double rss, std::size_t segments, bool continuous = false);

}  // namespace hplcast::fit::detail
