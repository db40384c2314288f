#pragma once

#include <vector>

#include "mean_regression.hpp"

namespace hplcast::fit::detail {

/// Where to cut the shapes along `split` so that polynomials of `terms` on the pieces have the least BIC together: the
/// best of all ways to cut between 64 equal blocks of shapes (dynamic programming), up to `max_pieces` pieces.
/// Ascending; empty if one piece is best.
std::vector<double> find_breakpoints(const ShapeRows& rows, const core::Monomial& split,
                                     const std::vector<core::Monomial>& terms, Weighting weighting, int max_pieces);

}  // namespace hplcast::fit::detail
