#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace hplcast::tests {

/// Ranks from 1; equal values share their mean rank.
inline std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    for (std::size_t t = i; t < j; ++t) ranks[order[t]] = 0.5 * static_cast<double>(i + j + 1);
    i = j;
  }
  return ranks;
}

inline double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n,
               mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xy / std::sqrt(xx * yy);
}

/// Spearman's rank correlation of values with their position: is there a trend in the order?
inline double correlation_with_order(const std::vector<double>& values) {
  std::vector<double> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0.0);
  return correlation(ranks_of(values), positions);
}

/// Rank correlation of each value with the next: do like values follow each other?
inline double serial_correlation(const std::vector<double>& values) {
  const std::vector<double> ranks = ranks_of(values);
  return correlation({ranks.begin(), ranks.end() - 1}, {ranks.begin() + 1, ranks.end()});
}

/// Without dependence a rank correlation of n values is nearly normal with standard deviation 1/sqrt(n-1): a true
/// shuffle passes this bound in all but 1 of 15,000 tests.
inline double correlation_bound(std::size_t n) {
  return 4 / std::sqrt(static_cast<double>(n) - 1);
}

}  // namespace hplcast::tests
