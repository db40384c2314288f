// The times promised for segmented regression, as CPU time, the best of some runs: other load on the machine does not
// count. bench/ shows how they grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <limits>

#include "hplcast/fit/segmented_regression.hpp"
#include "tests/fit/segmented/memcpy_generator.hpp"

namespace hplcast::fit {
namespace {

double cpu_seconds(int sizes, Objective objective, test::MemcpyNoise noise) {
  SamplesBySize samples;
  for (const auto& [x, y] : test::memcpy_rows(sizes, noise, 1)) samples.add(x, y);
  const std::vector<SizeCell> cells = samples.cells();
  SegmentedOptions options;
  options.objective = objective;
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5; ++run) {
    const std::clock_t start = std::clock();
    const SegmentedFit fit = fit_segmented(cells, options);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    EXPECT_TRUE(fit.ok()) << fit.reason;
  }
  return least;
}

class SegmentedSpeed : public testing::TestWithParam<test::MemcpyNoise> {
  void SetUp() override {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "skipped: not built for speed";
#endif
  }
};

TEST_P(SegmentedSpeed, LogarithmsOfFiveHundredSizesTakeLessThanATwentiethOfASecond) {
  const double seconds = cpu_seconds(500, Objective::log, GetParam());
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LE(seconds, 0.05);
}

TEST_P(SegmentedSpeed, SquaresOfAHundredThousandSizesTakeLessThanTwoSeconds) {
  const double seconds = cpu_seconds(100000, Objective::ols, GetParam());
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LE(seconds, 2);
  // Running sums make a candidate constant work: n log(n) in all, 12.5 times for ten times as many sizes; quadratic
  // work would be 100 times.
  EXPECT_LE(seconds, 40 * std::max(1e-3, cpu_seconds(10000, Objective::ols, GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Noise, SegmentedSpeed,
                         testing::Values(test::MemcpyNoise::none, test::MemcpyNoise::homoscedastic,
                                         test::MemcpyNoise::heteroscedastic),
                         [](const auto& noise) { return test::to_string(noise.param); });

}  // namespace
}  // namespace hplcast::fit
