#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace hplcast::core {

/// Mean of values that are not empty.
inline double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Median of values that are not empty; of an even number the mean of the middle two.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The middle one of the sorted values; of an even number the upper one of the middle two: always one of them, in
/// linear time. Not of none.
inline double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The upper median of the distances from `centre`. Not of none.
inline double median_distance(std::vector<double> values, double centre) {
  for (double& value : values) value = std::abs(value - centre);
  return upper_median(std::move(values));
}

/// Standard deviation of normal values whose median distance from their centre is 1.
inline constexpr double sd_of_median_distance = 1.4826;

/// Distribution function of the standard normal law: the probability of a value of at most z.
inline double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// Its density at z.
inline double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
}

}  // namespace hplcast::core
