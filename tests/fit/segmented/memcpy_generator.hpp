#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/segmented_regression.hpp"

namespace hplcast::test {

/// Noise of the three synthetic data sets of T. Cornebize's thesis (../shared/data/segmented/reference.json).
enum class MemcpyNoise { none, homoscedastic, heteroscedastic };

inline std::string to_string(MemcpyNoise noise) {
  return noise == MemcpyNoise::none            ? "none"
         : noise == MemcpyNoise::homoscedastic ? "homoscedastic"
                                               : "heteroscedastic";
}

inline const std::vector<double> memcpy_breakpoints = {14500, 992500, 5630000};

/// Duration of a copy of x bytes in s.
inline double memcpy_truth(double x) {
  if (x <= memcpy_breakpoints[0]) return 1.739e-11 * x + 4.181e-8;
  if (x <= memcpy_breakpoints[1]) return 5.457e-11 * x;
  if (x <= memcpy_breakpoints[2]) return 8.929e-11 * x;
  return 1.935e-10 * x + 1.294e-5;
}

/// x = 10^uniform(1, 9) with noise normal(0, 5e-9) or normal(0, 2e-12) x.
inline std::vector<std::pair<double, double>> memcpy_rows(int points, MemcpyNoise noise, std::uint64_t seed) {
  core::RandomStream stream({seed, core::stream_fit, 0, 0});
  std::vector<std::pair<double, double>> rows;
  for (int i = 0; i < points; ++i) {
    const double x = std::pow(10, 1 + 8 * stream.uniform());
    const double z = stream.normal();
    const double sd = noise == MemcpyNoise::none ? 0 : noise == MemcpyNoise::homoscedastic ? 5e-9 : 2e-12 * x;
    rows.emplace_back(x, memcpy_truth(x) + sd * z);
  }
  return rows;
}

/// Three breakpoints, each within three sizes of the true one: noise of some percent moves a breakpoint past a point
/// where the two lines differ by no more.
inline bool breakpoints_match(const std::vector<double>& found, const std::vector<fit::SizeCell>& cells) {
  if (found.size() != memcpy_breakpoints.size()) return false;
  const auto rank = [&](double x) {
    return std::count_if(cells.begin(), cells.end(), [&](const fit::SizeCell& c) { return c.size <= x; });
  };
  for (std::size_t i = 0; i < found.size(); ++i)
    if (std::abs(rank(found[i]) - rank(memcpy_breakpoints[i])) > 3) return false;
  return true;
}

}  // namespace hplcast::test
