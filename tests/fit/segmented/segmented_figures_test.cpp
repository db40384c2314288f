// How often breakpoints are found that are there, and that are not: figures of docs/measurements/estimators.md.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "hplcast/fit/segmented_regression.hpp"
#include "tests/support/asked.hpp"
#include "tests/support/figure.hpp"

namespace hplcast::fit {
namespace {

const int segmented_seeds = static_cast<int>(test::asked("HPLCAST_SEEDS", 60));

using Factor = std::function<double(std::mt19937_64&)>;

Factor log_normal(double sd) {
  return [sd](std::mt19937_64& engine) { return std::exp(sd * std::normal_distribution<>()(engine)); };
}

/// `count` sizes, log-uniform from 1 B to 1 MB, once each.
SegmentedFit fit_of(const std::function<double(double)>& truth, const Factor& factor, int count, unsigned seed) {
  std::mt19937_64 engine(seed);
  SamplesBySize samples;
  for (int i = 0; i < count; ++i) {
    const double size = std::floor(std::pow(1e6, std::uniform_real_distribution<>()(engine)));
    samples.add(size, truth(size) * factor(engine));
  }
  return fit_segmented(samples.cells(), {});
}

double one_line(double size) {
  return 2e-6 + 1e-9 * size;
}

double with_two_breaks(double size) {
  return size < 1000 ? 1e-6 + 2e-9 * size : size < 60000 ? 5e-6 + 1e-9 * size : 4e-5 + 4e-10 * size;
}

/// Share of the seeds with that many breakpoints or more.
double share(const std::function<double(double)>& truth, const Factor& factor, int sizes, std::size_t breakpoints) {
  int found = 0;
  for (int seed = 1; seed <= segmented_seeds; ++seed)
    found += fit_of(truth, factor, sizes, static_cast<unsigned>(seed)).breakpoints().size() >= breakpoints ? 1 : 0;
  return static_cast<double>(found) / segmented_seeds;
}

TEST(SegmentedFigures, HardlyAnyBreakpointsAreInventedAndClearOnesAreFound) {
  const Factor student = [](std::mt19937_64& engine) {
    return std::exp(0.05 * std::student_t_distribution<>(3)(engine));
  };
  // 0.7 % of 60 seeds with three binomial standard deviations.
  const double most = 0.007 + 3 * std::sqrt(0.007 / segmented_seeds);
  for (const int sizes : {12, 40, 80}) {
    test::expect_figure("segmented: false breakpoints, log-normal 5 %", share(one_line, log_normal(0.05), sizes, 1), 0,
                        most);
    test::expect_figure("segmented: false breakpoints, log-normal 30 %", share(one_line, log_normal(0.3), sizes, 1), 0,
                        most);
    test::expect_figure("segmented: false breakpoints, Student with 3 degrees", share(one_line, student, sizes, 1), 0,
                        most);
  }
  test::expect_figure("segmented: two breakpoints found, 40 sizes, 2 %",
                      share(with_two_breaks, log_normal(0.02), 40, 2), 0.9, 1);
  test::expect_figure("segmented: two breakpoints found, 80 sizes, 10 %",
                      share(with_two_breaks, log_normal(0.1), 80, 2), 0.9, 1);
}

}  // namespace
}  // namespace hplcast::fit
