#include "hplcast/core/detours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hplcast::core {
namespace {

using Sources = std::vector<DetourSource>;

DetourSource agent(double period_s, double duration_s, std::optional<double> phase_s = {},
                   DetoursPer per = DetoursPer::core) {
  return DetourSource::make({"agent", PeriodicDetours{0, phase_s}, period_s, ConstantDuration{duration_s}, per});
}

Sources all_kinds() {
  return {agent(1, 0.01), DetourSource::make({"tick", PeriodicDetours{1e-3, {}}, 0.004, UniformDuration{1e-6, 9e-6}}),
          DetourSource::make({"daemon", PoissonDetours(), 0.1, ExponentialDuration{1e-3}, DetoursPer::host}),
          DetourSource::make({"rest", PoissonDetours(), 0.05, QuantileDuration{{0, 1e-5, 1e-3}}})};
}

TEST(DetourClock, WithoutDetoursAdds) {
  DetourClock clock;
  EXPECT_EQ(clock.after(3, 0.5), 3.5);
  EXPECT_EQ(clock.free_s(3, 5), 2);
}

TEST(DetourClock, WorkStopsWhileADetourRuns) {
  const Sources sources = {agent(1, 0.125, 0.5)};  // numbers that a double has exactly
  DetourClock clock(sources, {});
  EXPECT_EQ(clock.after(0, 0.25), 0.25);
  EXPECT_EQ(clock.after(0.25, 0.5), 0.875);      // 0.5 to 0.625 is lost
  EXPECT_EQ(clock.after(1.5625, 0), 1.625);      // the rest of one that runs
  EXPECT_EQ(clock.after(3.25, 0.125), 3.375);    // whoever waits loses nothing
  EXPECT_EQ(clock.after(3.375, 0.125), 3.625);   // work that ends as a detour begins ends after it
  EXPECT_EQ(clock.free_s(3.625, 5.5625), 1.75);  // 4.5 to 4.625 and 5.5 to 5.5625 are not free
}

TEST(DetourClock, CoresThatASourceDoesNotHitLoseNothing) {
  const Sources sources = {
      DetourSource::make({"agent", PeriodicDetours{0, 0.5}, 1, ConstantDuration{0.125}, DetoursPer::core, false, {2}})};
  for (int core = 0; core < 4; ++core) {
    DetourPlace place;
    place.core_of_host = core;
    DetourClock clock(sources, place);
    EXPECT_EQ(clock.any(), core == 2);
    EXPECT_EQ(clock.after(0.25, 0.5), core == 2 ? 0.875 : 0.75);
  }
}

TEST(DetourClock, DetoursThatOverlapQueue) {
  Sources sources = {agent(1, 0.1, 0.5)};
  sources.push_back(DetourSource::make({"other", PeriodicDetours{0, 0.55}, 1, ConstantDuration{0.2}}));
  DetourClock clock(sources, {});
  EXPECT_DOUBLE_EQ(clock.after(0, 0.5), 0.8);  // 0.5 to 0.6, then 0.2 more, though the second came at 0.55
  EXPECT_DOUBLE_EQ(clock.free_s(0.8, 2), 0.9);
}

TEST(DetourClock, AtTheBeginADetourMayRunAlready) {
  const Sources sources = {agent(1, 0.3, 0.9)};
  DetourClock clock(sources, {});
  EXPECT_NEAR(clock.after(0, 0.1), 0.3, 1e-15);
}

TEST(DetourClock, OneRankLosesTheShareOfTheDetoursExactly) {
  for (const auto& [period_s, duration_s] : {std::pair(1.0, 0.01), std::pair(0.1, 0.0025), std::pair(0.004, 5e-6)}) {
    const Sources sources = {agent(period_s, duration_s)};
    DetourClock clock(sources, {});
    constexpr int periods = 1000;
    const double work_s = periods * (period_s - duration_s);
    // Over whole periods the phase does not matter: 1 / (1 - d / T), to the rounding of the sums.
    EXPECT_NEAR(clock.after(0, work_s) / work_s * (1 - duration_s / period_s), 1, 1e-9);
  }
}

TEST(DetourClock, PoissonDetoursTakeTheirShare) {
  const Sources sources = {DetourSource::make({"d", PoissonDetours(), 0.1, ExponentialDuration{1e-3}})};
  constexpr double work_s = 1e5;
  // The time that 1e6 detours take has a relative standard deviation of sqrt(2 / 1e6), times the share of 1 %: 1.4e-5.
  EXPECT_NEAR(DetourClock(sources, {}).after(0, work_s) / work_s, 1 / 0.99, 4 * 1.4e-5);
}

TEST(DetourClock, IntervalsOfPoissonDetoursAreExponential) {
  const Sources sources = {DetourSource::make({"d", PoissonDetours(), 1, ConstantDuration{1e-9}})};
  DetourClock clock(sources, {5, 2, 1});
  // Of 100,000 intervals: mean 1, mean square 2, a share e^-2 longer than 2; each within 4 standard errors.
  constexpr int count = 100000;
  double now_s = 0, last_s = 0, sum = 0, squares = 0, long_ones = 0;
  for (int found = 0; found < count;) {
    // Looks for the next detour in steps of an hundredth: two of them in one step are one in 200 intervals.
    constexpr double step_s = 0.01;
    const double lost_s = step_s - clock.free_s(now_s, now_s + step_s);
    now_s += step_s;
    for (long n = std::lround(lost_s / 1e-9); n > 0 && found < count; --n, ++found) {
      const double interval_s = now_s - last_s;
      sum += interval_s;
      squares += interval_s * interval_s;
      long_ones += interval_s > 2 ? 1 : 0;
      last_s = now_s;
    }
  }
  EXPECT_NEAR(sum / count, 1, 4 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 2, 4 * std::sqrt(20.0 / count));
  EXPECT_NEAR(long_ones / count, std::exp(-2), 4 * std::sqrt(0.117 / count) + 0.01 * std::exp(-2));
}

TEST(DetourClock, PiecesOfWorkTakeAsLongAsTheWhole) {
  const Sources sources = all_kinds();
  DetourClock whole(sources, {1, 3, 0});
  DetourClock parts = whole;
  double whole_s = 0, parts_s = 0, worst_s = 0;
  RandomStream random({1, stream_fit, 0, 0});
  while (whole_s < 11000) {
    double work_s = 0;
    for (int i = 0; i < 7; ++i) {
      const double piece_s = -std::log(random.uniform()) * (i < 6 ? 1e-3 : 3);
      work_s += piece_s;
      parts_s = parts.after(parts_s, piece_s);
    }
    whole_s = whole.after(whole_s, work_s);
    worst_s = std::max(worst_s, std::abs(whole_s - parts_s));
    parts_s = whole_s;  // else the roundings of 11,000 s would add up
  }
  EXPECT_LE(worst_s, 1e-11);  // a double resolves 2e-12 s there
}

TEST(DetourClock, DependsOnTimesOnlyNotOnTheCallsBefore) {
  // Each source alone (one that may skip among them) and all together.
  std::vector<Sources> cases = {all_kinds()};
  for (const DetourSource& source : all_kinds()) cases.push_back({source});
  for (const Sources& sources : cases) {
    DetourClock often(sources, {1, 3, 0});
    double now_s = 0;
    while (now_s < 500) now_s = often.after(now_s, 1e-3);
    DetourClock late(sources, {1, 3, 0});
    EXPECT_EQ(late.after(now_s, 2), often.after(now_s, 2));
    DetourClock counting(sources, {1, 3, 0});
    const double free_s = counting.free_s(0, now_s);  // now_s is not in a detour: it is the end of work
    EXPECT_NEAR(DetourClock(sources, {1, 3, 0}).after(0, free_s), now_s, 1e-9);
  }
}

TEST(DetourClock, CoresWithTheSameKeyAreHitTogether) {
  const auto end_s = [](DetoursPer per, std::uint32_t core, std::uint32_t host, std::uint64_t seed = 1) {
    const Sources sources = {DetourSource::make({"d", PoissonDetours(), 0.1, ExponentialDuration{1e-3}, per})};
    return DetourClock(sources, {seed, core, host}).after(0, 10);
  };
  EXPECT_NE(end_s(DetoursPer::core, 0, 0), end_s(DetoursPer::core, 1, 0));
  EXPECT_EQ(end_s(DetoursPer::host, 0, 0), end_s(DetoursPer::host, 1, 0));
  EXPECT_NE(end_s(DetoursPer::host, 0, 0), end_s(DetoursPer::host, 40, 1));
  EXPECT_EQ(end_s(DetoursPer::cluster, 0, 0), end_s(DetoursPer::cluster, 40, 1));
  EXPECT_NE(end_s(DetoursPer::cluster, 0, 0), end_s(DetoursPer::cluster, 0, 0, 2));
}

TEST(DetourClock, ASharedPhaseIsThatOfAllCores) {
  const Sources sources = {agent(1, 0.1, 0.25)};
  for (const std::uint32_t core : {0U, 7U}) EXPECT_DOUBLE_EQ(DetourClock(sources, {1, core, 0}).after(0, 0.3), 0.4);
}

TEST(DetourClock, AnotherOriginIsALaterTime) {
  const Sources sources = all_kinds();
  constexpr double origin_s = 1000;
  DetourClock from_there(sources, {1, 3, 0, origin_s});
  DetourClock from_zero(sources, {1, 3, 0});
  // Detours that began long before the origin are forgotten; a second later nothing is left of that.
  double there_s = from_there.after(1, 0), zero_s = from_zero.after(origin_s + 1, 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NEAR(there_s + origin_s, zero_s, 1e-11);
    there_s = from_there.after(there_s, 0.3);
    zero_s = from_zero.after(zero_s, 0.3);
  }
}

TEST(DetourClock, KernelsDoNotFeelWhatTheirTimesContain) {
  Sources sources = {agent(1, 0.1, 0.5)};
  sources.push_back(DetourSource::make({"tick", PeriodicDetours{0, 0.2}, 1, ConstantDuration{0.01}, {}, true}));
  EXPECT_DOUBLE_EQ(DetourClock(sources, {}, DetourClock::Which::all).after(0, 0.6), 0.71);
  EXPECT_DOUBLE_EQ(DetourClock(sources, {}, DetourClock::Which::not_in_kernels).after(0, 0.6), 0.7);
}

TEST(DetourClock, DetoursOfNoLengthChangeNothing) {
  const Sources sources = {agent(1e-3, 0)};
  EXPECT_NEAR(DetourClock(sources, {}).after(0, 10), 10, 1e-11);
}

}  // namespace
}  // namespace hplcast::core
