#pragma once

#include "line.hpp"

namespace hplcast::fit::detail {

/// Probability that two adjacent ranges of one and the same line give lines as different as these: Wald's test for
/// equal intercepts and slopes with a covariance that does not assume equal noise (HC3, MacKinnon and White 1985, one
/// cluster a size), against F(2, sizes of the shorter range - 2). 1 if a range has fewer than three sizes.
double same_line_probability(const Points& points, Range left, const Line& left_line, Range right,
                             const Line& right_line);

}  // namespace hplcast::fit::detail
