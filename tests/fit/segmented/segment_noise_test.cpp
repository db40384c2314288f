#include "hplcast/fit/segmented_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

std::vector<FittedSegment> two_segments() {
  FittedSegment small{0, 1e-9, 1e-6, 0, 0, 0}, large{1000, 2e-9, 5e-6, 0, 0, 0};
  return {small, large};
}

TEST(SegmentNoise, IsTheScatterAroundTheLineOfTheSegment) {
  SegmentNoiseCollector collector(two_segments());
  for (double residual : {-2e-7, 0.0, 2e-7, 4e-7}) collector.add(500, 1.5e-6 + residual);
  const auto noise = collector.noise(SegmentNoiseKind::n1);
  ASSERT_EQ(noise.size(), 2u);
  EXPECT_NEAR(noise[0].mean, 1e-7, 1e-15);
  // Squares around the mean: (9 + 1 + 1 + 9) 1e-14, less two degrees of freedom for the line.
  EXPECT_NEAR(noise[0].sd, std::sqrt(20e-14 / 2), 1e-15);
  EXPECT_TRUE(noise[0].modes.empty());
  EXPECT_EQ(noise[1].sd, 0);
}

TEST(SegmentNoise, HasOneModeWhereTheScatterIsNormal) {
  SegmentNoiseCollector collector(two_segments());
  core::RandomStream stream({1, core::stream_fit, 0, 0});
  for (int i = 0; i < 2000; ++i) {
    const double x = 2000 * stream.uniform();
    collector.add(x, (x < 1000 ? 1e-6 + 1e-9 * x : 5e-6 + 2e-9 * x) + 1e-7 * stream.normal());
  }
  for (const SegmentNoise& noise : collector.noise(SegmentNoiseKind::mixture)) {
    ASSERT_EQ(noise.modes.size(), 1u);
    EXPECT_NEAR(noise.modes[0].sd / 1e-7, 1, 0.1);  // 1000 rows: 2 % standard error
  }
}

TEST(SegmentNoise, FindsTheModesOfAMixture) {
  SegmentNoiseCollector collector(two_segments());
  core::RandomStream stream({2, core::stream_fit, 0, 0});
  for (int i = 0; i < 20000; ++i) {
    const double x = 900 * stream.uniform();
    const double slow = stream.uniform() < 0.2 ? 5e-6 : 0;
    collector.add(x, 1e-6 + 1e-9 * x + slow + 2e-7 * stream.normal());
  }
  const SegmentNoise noise = collector.noise(SegmentNoiseKind::mixture)[0];
  ASSERT_EQ(noise.modes.size(), 2u);
  EXPECT_NEAR(noise.modes[0].probability, 0.8, 0.02);  // a sample of 5000: 0.6 % standard error
  EXPECT_NEAR(noise.modes[1].mean, 5e-6, 5e-8);
  EXPECT_NEAR(noise.modes[1].sd / 2e-7, 1, 0.15);
  EXPECT_NEAR(noise.mean, 1e-6, 5e-8);
}

TEST(SegmentNoise, OfFewRowsIsNone) {
  SegmentNoiseCollector collector(two_segments());
  collector.add(10, 2e-6);
  collector.add(20, 2e-6);
  const SegmentNoise noise = collector.noise(SegmentNoiseKind::mixture)[0];
  EXPECT_EQ(noise.sd, 0);
  EXPECT_TRUE(noise.modes.empty());
}

TEST(SegmentNoise, HasNames) {
  for (const SegmentNoiseKind kind : {SegmentNoiseKind::none, SegmentNoiseKind::n1, SegmentNoiseKind::mixture})
    EXPECT_EQ(core::from_name<SegmentNoiseKind>(to_string(kind)), kind);
  EXPECT_THROW(core::from_name<SegmentNoiseKind>("n2"), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
