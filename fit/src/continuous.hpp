#pragma once

#include <vector>

#include "line.hpp"

namespace hplcast::fit::detail {

/// Segments that join at the knots (the breakpoints).
struct JoinedLines {
  std::vector<double> knots;
  double start = 0;            ///< value at 0
  std::vector<double> slopes;  ///< one more than knots
  double rss = 0;              ///< without the part inside the sizes
};

/// The best joined lines with these knots. With points.non_negative neither value nor slopes are negative.
JoinedLines fit_joined(const Points& points, const std::vector<double>& knots);

/// Moves the knots between the sizes, one after the other, and takes away those not worth their BIC.
JoinedLines refine_joined(const Points& points, const std::vector<double>& knots, std::size_t min_sizes);

}  // namespace hplcast::fit::detail
