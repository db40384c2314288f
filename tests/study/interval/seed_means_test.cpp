#include "hplcast/study/seed_means.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::study {
namespace {

TEST(SeedMeans, TheBestHasTheLargestMeanAndNotTheLuckiestSeed) {
  const SeedMeans means({{65.01, 52.45}, {60, 60.2}, {59, 59.3}});
  EXPECT_EQ(means.best(), 1U);
  EXPECT_DOUBLE_EQ(means.mean(0), 58.73);
  EXPECT_EQ(means.equals(1), 2U);
  EXPECT_EQ(equals_text(means, 1), "; 2 others cannot be told apart from it");
  EXPECT_EQ(equals_text(means, 1, [](std::size_t i) { return i == 0; }), "; 1 other cannot be told apart from it");
}

// Relative deviations of +-1 % in two configurations: s^2 = 4 x 0.01^2 / 2, t(0.975, 2) = 4.3027.
TEST(SeedMeans, PoolsTheScatterOfAllConfigurations) {
  const SeedMeans means({{99, 101}, {198, 202}, {300}});
  const double sd = 0.01 * std::sqrt(2.0), t = 4.302653;
  EXPECT_NEAR(means.half_width(0).value(), 100 * t * sd / std::sqrt(2.0), 1e-4);
  EXPECT_NEAR(means.half_width(2).value(), 300 * t * sd, 1e-4);
  const SeedRatio ratio = means.ratio(1, 0);
  EXPECT_DOUBLE_EQ(ratio.ratio, 2);
  EXPECT_NEAR(ratio.half_width.value(), 2 * t * sd, 1e-6);
  EXPECT_TRUE(ratio.is_apart());
  EXPECT_EQ(to_string(ratio), "2.000 +- 0.122 times");
  EXPECT_EQ(to_string(SeedRatio{1.02, 0.03}), "1.020 +- 0.030 times: cannot be told apart");
  EXPECT_EQ(mean_text(means, 0), "100.0 +- 4.3");
}

TEST(SeedMeans, OneSeedEachHasNoInterval) {
  const SeedMeans means({{2}, {3}});
  EXPECT_FALSE(means.half_width(0));
  EXPECT_EQ(mean_text(means, 1), "3.000");
  EXPECT_EQ(equals_text(means, 1), "");
  EXPECT_EQ(to_string(means.ratio(0, 1)), "0.667 times");
}

TEST(SeedMeans, EqualToTheLastDigitIsAsGood) {
  const SeedMeans means({{3}, {3}, {2}, {3}});
  EXPECT_EQ(equals_text(means, 0), "; 2 others are as good");
  EXPECT_EQ(equals_text(means, 0, [](std::size_t i) { return i < 3; }), "; 1 other is as good");
  EXPECT_EQ(equals_text(SeedMeans({{3, 3.1}, {3, 3.1}, {3, 3.05}}), 0), "; 2 others cannot be told apart from it");
}

// 90 % to 99 %: of 400 draws 95 % have a standard error of 1.1 %; four of them.
TEST(SeedMeans, IntervalsHoldTheTruthAsOftenAsTheySay) {
  core::RandomStream random({1, core::stream_design, 0, 0});
  int held = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::vector<double>> values(4);
    for (auto& one : values)
      for (int seed = 0; seed < 3; ++seed) {
        double normal = -6;  // a sum of 12 uniform numbers less 6 has a standard deviation of 1
        for (int i = 0; i < 12; ++i) normal += random.uniform();
        one.push_back(100 + 2 * normal);
      }
    const SeedRatio ratio = SeedMeans(values).ratio(0, 1);
    held += std::abs(ratio.ratio - 1) <= *ratio.half_width ? 1 : 0;
  }
  EXPECT_GT(held, 0.906 * trials);
  EXPECT_LT(held, 0.994 * trials);
}

TEST(SeedMeans, RefuseConfigurationsWithoutResults) {
  EXPECT_THROW(SeedMeans({{1.0}, {}}), core::DomainError);
  EXPECT_THROW(SeedMeans({{1.0, 0.0}}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
