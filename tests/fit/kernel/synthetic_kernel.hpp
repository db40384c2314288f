#pragma once

#include <cmath>
#include <vector>

#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::test {

/// `count` shapes, sizes log-uniform from `least` to `most`.
inline std::vector<core::KernelShape> random_shapes(int count, double least, double most, std::uint64_t seed) {
  core::RandomStream stream({seed, core::stream_design, 0, 7});
  const auto size = [&] { return std::floor(least * std::pow(most / least, stream.uniform())); };
  std::vector<core::KernelShape> shapes;
  for (int i = 0; i < count; ++i) {
    const double m = size(), n = size(), k = size();
    shapes.push_back({m, n, k});
  }
  return shapes;
}

/// `repeats` calls of each shape drawn from `law`, shapes in turn.
inline fit::KernelTable measured(const core::DurationLaw& law, const std::vector<core::KernelShape>& shapes,
                                 int repeats, std::uint64_t seed) {
  core::RandomStream stream({seed, core::stream_kernel, 0, 0});
  fit::KernelTable table;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const core::KernelShape& shape : shapes) table.add(shape, law.sample_s(shape, stream.next()));
  return table;
}

/// A dgemm of the order of a real core: 14 Gflop/s, noise of 2 percent.
inline core::DurationLaw dgemm_law(core::NoiseFamily family, double relative_noise = 0.02) {
  const std::vector<core::Monomial> terms = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}};
  const core::Polynomial mu = core::Polynomial::make(terms, {7e-11, 2e-10, 2e-9, 3e-9, 1e-6});
  if (family == core::NoiseFamily::none) return core::DurationLaw::make(mu, {}, family);
  return core::DurationLaw::make(mu, core::scaled(mu, relative_noise), family);
}

}  // namespace hplcast::test
