#pragma once

#include <cstddef>
#include <vector>

namespace hplcast::fit {

struct ChangePointOptions {
  double penalty = 4;          ///< of a change: penalty ln(n) sigma^2
  std::size_t least_runs = 6;  ///< in a row between two changes
  double least_effect = 0.01;  ///< smaller changes of the mean, as ratios, are not told
};

struct ChangePoint {
  std::size_t first = 0;  ///< index of the first run after it
  double effect = 0;      ///< mean after / mean before - 1, each up to the next change
};

/// Where the mean of a series changes: the piecewise constant function with the least squares plus penalties, found
/// exactly by dynamic programming (B. Jackson et al. 2005; pruned as by R. Killick, P. Fearnhead and I. Eckley 2012).
/// sigma is estimated from the differences of neighbours (median absolute one), which a few changes do not move.
/// @throws core::DomainError for values that are not finite, or options outside their domain.
std::vector<ChangePoint> change_points(const std::vector<double>& values, const ChangePointOptions& options = {});

}  // namespace hplcast::fit
