#pragma once

#include <vector>

namespace hplcast::fit::detail {

/// Quantile with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double probability);

/// The same of values in any order.
double quantile_of(std::vector<double> values, double probability);

}  // namespace hplcast::fit::detail
