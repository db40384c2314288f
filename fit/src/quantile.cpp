#include "quantile.hpp"

#include <algorithm>

namespace hplcast::fit::detail {

double quantile(const std::vector<double>& sorted, double probability) {
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double quantile_of(std::vector<double> values, double probability) {
  std::sort(values.begin(), values.end());
  return quantile(values, probability);
}

}  // namespace hplcast::fit::detail
