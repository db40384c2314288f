#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hplcast::core {

/// The middle one of the sorted values; of an even number the upper one of the middle two. Not of none.
inline double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace hplcast::core
