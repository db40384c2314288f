#pragma once

#include "line.hpp"

namespace hplcast::fit::detail {

/// Probability that two adjacent ranges of one and the same line give lines as different as these, by the better of two
/// tests that do not assume equal noise at all sizes (its probability doubled):
///   - Wald's test for equal intercepts and slopes on all points, with the covariance HC3 (MacKinnon and White 1985,
///   one
///     cluster a size), against F(2, sizes of the shorter range - 2): finds lines that differ slightly over many sizes;
///   - Chow's test (1960) on the twenty sizes on either side, with the greater of the two noises: finds jumps to or
///   from ranges of
///     few sizes.
/// 1 if a range has fewer than three sizes. A result up to `small` may be greater than the better of the two: the
/// caller does not care any more.
double same_line_probability(const Points& points, Range left, const Line& left_line, Range right,
                             const Line& right_line, double small = 0);

}  // namespace hplcast::fit::detail
