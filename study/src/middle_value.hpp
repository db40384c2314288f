#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace hplcast::study {

struct WeightedValue {
  double value = 0;
  double weight = 0;
};

/// The median of an odd number of values; of an even number, of the middle two the one with less weight. Not empty.
inline double middle_value(std::vector<WeightedValue> values) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  const WeightedValue& above = values[values.size() / 2];
  if (values.size() % 2 == 1) return above.value;
  const WeightedValue& below = values[values.size() / 2 - 1];
  return above.weight < below.weight ? above.value : below.value;
}

}  // namespace hplcast::study
