#include "study/activity/rank_activity.hpp"

#include <gtest/gtest.h>

namespace hplcast::study {
namespace {

/// What rank 0 finds out at its time `t_s` about a clock that is ahead by 5 s at 0 and drifts by 20 ppm.
ClockComparison planted(double t_s, double error_s = 0) {
  const double theirs_s = 5 + t_s * (1 + 20e-6);
  return {1, theirs_s, theirs_s - t_s + error_s, error_s};
}

TEST(HostClock, FindsAPlantedOffsetAndDrift) {
  const HostClock clock({planted(100), planted(200)});
  // Readings of 200 s have a spacing of 3e-14 s; a drift over 100 s divides the difference of two.
  for (const double t_s : {100.0, 137.5, 200.0, 300.0})
    EXPECT_NEAR(clock.at_rank_0_s(5 + t_s * (1 + 20e-6)), t_s, 1e-12);
  EXPECT_NEAR(clock.drift(), 20e-6, 1e-9);
  EXPECT_FALSE(clock.jumped());
}

TEST(HostClock, IsOffByNoMoreThanTheErrorsBetweenTheComparisons) {
  const HostClock clock({planted(100, 3e-6), planted(200, -2e-6)});
  for (const double t_s : {100.0, 150.0, 200.0})
    EXPECT_NEAR(clock.at_rank_0_s(5 + t_s * (1 + 20e-6)), t_s, 3e-6 + 1e-12);
}

TEST(HostClock, IsThatOfRankZeroWithoutComparisons) {
  EXPECT_EQ(HostClock().at_rank_0_s(7.25), 7.25);
  EXPECT_EQ(HostClock(std::vector<ClockComparison>{}).at_rank_0_s(7.25), 7.25);
}

TEST(HostClock, HasNoDriftAfterOneComparison) {
  const HostClock clock({{1, 10, 2, 0}});
  EXPECT_EQ(clock.at_rank_0_s(20), 18);
  EXPECT_EQ(clock.drift(), 0);
}

TEST(HostClock, TellsAJumpFromADriftAndFromRoughComparisons) {
  EXPECT_TRUE(HostClock({{1, 10, 2, 1e-6}, {1, 20, 2.1, 1e-6}}).jumped()) << "0.1 s in 10 s";
  EXPECT_FALSE(HostClock({{1, 10, 2, 1e-6}, {1, 20, 2.001, 1e-6}}).jumped()) << "100 ppm: a poor clock";
  EXPECT_FALSE(HostClock({{1, 10, 2, 0.05}, {1, 20, 2.1, 0.05}}).jumped()) << "as rough as that";
}

}  // namespace
}  // namespace hplcast::study
