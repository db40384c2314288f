#pragma once

#include "line.hpp"

namespace hplcast::fit::detail {

/// Two lines instead of one: `at` is the first point of the right one; 0 gain: no place to split.
struct Split {
  std::size_t at = 0;
  double gain = 0;  ///< the rss that it saves
  Line left, right;
};

/// The best place for one breakpoint in a range that the line `whole` fits. A pass of running sums from either end
/// gives the rss on both sides of every candidate in constant time each: exact for ols and weighted, to interpolation
/// for log; the lines of the winner and of its neighbours are then fitted exactly. `min_sizes` points stay on either
/// side.
Split best_split(const Points& points, Range range, const Line& whole, std::size_t min_sizes);

}  // namespace hplcast::fit::detail
