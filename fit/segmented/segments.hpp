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

/// Strictly between two sizes: both readings of a limit (x < b, x <= b) then mean the same.
double between(double left, double right);

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

/// Probability that two adjacent ranges of one and the same line give lines as different as these, by the better of two
/// tests that do not assume equal noise at all sizes (its probability doubled):
///   - Wald's test for equal intercepts and slopes on all points, with the covariance HC3 (MacKinnon and White 1985,
///   one
///     cluster a size), against F(2, sizes of the shorter range - 2): finds lines that differ slightly over many sizes;
///   - Chow's test (1960) on the twenty sizes on either side, with the greater of the two noises: finds jumps to or
///   from
///     ranges of few sizes.
/// 1 if a range has fewer than three sizes. A result up to `small` may be greater than the better of the two: the
/// caller does not care any more.
double same_line_probability(const Points& points, Range left, const Line& left_line, Range right,
                             const Line& right_line, double small = 0);

/// A range of points and its line.
struct Piece {
  Range range;
  Line line;
};
using Pieces = std::vector<Piece>;

/// Sum over the pieces, with the part inside the sizes.
double total_rss(const Points& points, const Pieces& pieces);

/// The search of fit_segmented() for the number and the places of the breakpoints.
Pieces best_pieces(const Points& points, const SegmentedOptions& options);

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
