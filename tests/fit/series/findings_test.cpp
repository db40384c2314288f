#include "hplcast/fit/findings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {
namespace {

constexpr std::int64_t day_s = 86400;

/// CPUs that scatter by 0.3 percent, measured once per day.
FactorHistory quiet(std::size_t cpus, std::size_t runs, unsigned seed = 1) {
  FactorHistory history;
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> noise(0, 0.003);
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
    CpuHistory one;
    for (std::size_t i = 0; i < runs; ++i) {
      one.time_s.push_back(static_cast<std::int64_t>(i) * day_s + 3600);
      one.value.push_back((20 + static_cast<double>(cpu)) * (1 + noise(engine)));
    }
    one.outlier.resize(runs);
    one.own_epoch = one.ratio_epoch = one.common_epoch = std::vector<std::size_t>(runs);
    history.cpus.push_back(one);
  }
  return history;
}

void slow_down(CpuHistory& cpu, std::size_t first, std::size_t last, double share) {
  for (std::size_t i = first; i < last; ++i) cpu.value[i] *= 1 - share;
}

TEST(Findings, AreNoneInQuietHistories) {
  for (unsigned seed = 1; seed <= 20; ++seed) EXPECT_TRUE(find_changes({quiet(8, 60, seed)}, {}).all.empty()) << seed;
}

TEST(Findings, SayWhatSinceWhenAndHowMuch) {
  FactorHistory history = quiet(8, 60);
  slow_down(history.cpus[3], 40, 60, 0.05);
  const auto found = find_changes({history}, {}).all;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpu, 3U);
  EXPECT_EQ(found[0].against, Against::cluster);
  EXPECT_EQ(found[0].since_s, 40 * day_s + 3600);
  EXPECT_TRUE(found[0].open);
  EXPECT_EQ(found[0].runs, 20U);
  EXPECT_NEAR(found[0].effect, -0.05, 2 * found[0].effect_error);
  EXPECT_LT(found[0].effect_error, 0.004);  // a scatter of 0.3 %, 20 runs against 40
  EXPECT_LT(found[0].probability, 1e-4);
}

TEST(Findings, CloseWithTheFirstRunAfterTheRepair) {
  FactorHistory history = quiet(8, 51);
  slow_down(history.cpus[3], 40, 50, 0.05);
  const auto found = find_changes({history}, {}).all;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].open);
  EXPECT_EQ(found[0].last_s, 49 * day_s + 3600);
}

TEST(Findings, NeedConfirmation) {
  FactorHistory history = quiet(8, 60);
  slow_down(history.cpus[3], 59, 60, 0.05);
  EXPECT_TRUE(find_changes({history}, {}).all.empty());
  FindingOptions hasty;
  hasty.repeated = 1;
  EXPECT_EQ(find_changes({history}, hasty).all.size(), 1U);
  slow_down(history.cpus[3], 58, 59, 0.05);
  EXPECT_EQ(find_changes({history}, {}).all.size(), 1U);
}

TEST(Findings, OfAWindowBeginWhereItsRunsChanged) {
  FactorHistory history = quiet(8, 60);
  slow_down(history.cpus[3], 40, 60, 0.012);  // three to four standard deviations: runs alone are mostly inside
  FindingOptions options;
  options.windows = {5};
  const auto found = find_changes({history}, options).all;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0].since_s - 3600) / day_s, 40, 2);
}

TEST(Findings, BelowTheLeastEffectAreNotTold) {
  FactorHistory history = quiet(8, 60);
  slow_down(history.cpus[3], 30, 60, 0.05);
  FindingOptions options;
  options.least_effect = 0.06;
  EXPECT_TRUE(find_changes({history}, options).all.empty());
}

TEST(Findings, OfAllCpusAreOne) {
  FactorHistory history = quiet(8, 60);
  for (CpuHistory& cpu : history.cpus) slow_down(cpu, 40, 60, 0.05);
  const auto found = find_changes({history}, {}).all;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpu, Finding::all_cpus);
  EXPECT_EQ(found[0].also_cpus, 8U);
  EXPECT_NEAR(found[0].effect, -0.05, 0.002);
}

// Who missed some nights has its median before the update, or after it.
TEST(Findings, OfAnUpdateInTheMiddleAreNoneOfHostsThatMissedNights) {
  constexpr std::size_t update = 60;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    for (const std::size_t nights : {116, 118, 120, 124}) {
      FactorHistory history = quiet(24, nights, seed);
      std::mt19937_64 engine(seed);
      std::bernoulli_distribution takes_part(0.7);
      for (CpuHistory& cpu : history.cpus) {
        slow_down(cpu, update, nights, 0.2);
        CpuHistory measured;
        for (std::size_t night = 0; night < nights; ++night) {
          if (!takes_part(engine)) continue;
          measured.time_s.push_back(cpu.time_s[night]);
          measured.value.push_back(cpu.value[night]);
          measured.own_epoch.push_back(night < update ? 0 : 1);
        }
        measured.common_epoch = measured.own_epoch;
        measured.outlier.resize(measured.value.size());
        measured.ratio_epoch.resize(measured.value.size());
        cpu = measured;
      }
      EXPECT_TRUE(find_changes({history}, {}).all.empty()) << seed << ", " << nights;
    }
  }
}

// Hosts that were updated one after the other are logged by their names: no news of the others.
TEST(Findings, OfALoggedUpdateOfManyHostsAreNoneOfTheOthers) {
  constexpr std::size_t update = 40;
  for (const std::size_t updated : {10U, 12U, 16U, 22U}) {
    FactorHistory history = quiet(24, 80);
    for (std::size_t c = 0; c < updated; ++c) {
      slow_down(history.cpus[c], update, 80, 0.2);
      const auto since = static_cast<std::ptrdiff_t>(update);
      std::fill(history.cpus[c].own_epoch.begin() + since, history.cpus[c].own_epoch.end(), 1);
      history.cpus[c].ratio_epoch = history.cpus[c].own_epoch;
    }
    EXPECT_TRUE(find_changes({history}, {}).all.empty()) << updated;
    slow_down(history.cpus[23], update, 80, 0.05);  // which is not in the log
    const auto found = find_changes({history}, {}).all;
    ASSERT_EQ(found.size(), 1U) << updated;
    EXPECT_EQ(found[0].cpu, 23U);
    EXPECT_NEAR(found[0].effect, -0.05, 0.003);
  }
}

/// Runs of one CPU more, on one day.
void measure_again(CpuHistory& cpu, std::int64_t day, int runs, double value) {
  for (int run = 0; run < runs; ++run) {
    cpu.time_s.push_back(day * day_s + 3600 * (run + 1));
    cpu.value.push_back(value);
  }
  const std::size_t all = cpu.value.size();
  cpu.outlier.resize(all);
  cpu.own_epoch.resize(all);
  cpu.ratio_epoch.resize(all);
  cpu.common_epoch.resize(all);
}

// Three runs of a day are not three CPUs.
TEST(Findings, OfACpuThatWasMeasuredAloneAreOfThatCpu) {
  FactorHistory history = quiet(8, 40);
  for (const std::int64_t day : {40, 41}) measure_again(history.cpus[3], day, 3, 0.95 * 23);
  const auto found = find_changes({history}, {}).all;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cpu, 3U);
  EXPECT_NEAR(found[0].effect, -0.05, 0.002);
}

// A coefficient of 0 in all earlier runs: nothing is a ratio of that.
TEST(Findings, NeverAreInRelationToNothing) {
  FactorHistory history;
  measure_again(history.cpus.emplace_back(), 0, 1, 0);
  for (std::int64_t day = 1; day < 12; ++day) measure_again(history.cpus[0], day, 1, 0);
  for (std::int64_t day = 12; day < 14; ++day) measure_again(history.cpus[0], day, 1, 1e-13);
  EXPECT_TRUE(find_changes({history}, {}).all.empty());
}

TEST(Findings, AreOverAtAChangeThatExplainsThem) {
  FactorHistory history = quiet(8, 60);
  for (CpuHistory& cpu : history.cpus) {
    slow_down(cpu, 40, 60, 0.05);
    for (std::size_t i = 40; i < 60; ++i) cpu.own_epoch[i] = cpu.common_epoch[i] = 1;
  }
  EXPECT_TRUE(find_changes({history}, {}).all.empty());
}

TEST(Findings, OfFewCpusAreAgainstTheirOwnRuns) {
  for (const std::size_t cpus : {1, 2}) {
    FactorHistory history = quiet(cpus, 60);
    slow_down(history.cpus[0], 40, 60, 0.05);
    const auto found = find_changes({history}, {}).all;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].against, Against::own);
    EXPECT_EQ(found[0].cpu, 0U);
  }
}

TEST(Findings, SayHowManyRunsAreMissing) {
  const Findings few = find_changes({quiet(4, 8)}, {});
  EXPECT_TRUE(few.all.empty());
  EXPECT_EQ(few.counts.newest_untested, 4U);
  EXPECT_EQ(few.counts.missing_runs, 3U);  // the eleventh run is the first with ten before it
  EXPECT_EQ(find_changes({quiet(4, 11)}, {}).counts.newest_untested, 0U);
}

TEST(Findings, NeverComeFromLoggedOutliers) {
  FactorHistory history = quiet(8, 60);
  slow_down(history.cpus[3], 50, 54, 0.2);
  for (std::size_t i = 50; i < 54; ++i) history.cpus[3].outlier[i] = true;
  EXPECT_TRUE(find_changes({history}, {}).all.empty());
}

TEST(Findings, RefuseBadOptionsAndHistories) {
  FindingOptions options;
  options.windows = {5, 1};
  EXPECT_THROW(find_changes({}, options), core::DomainError);
  options = {};
  options.least_effect = -1;
  EXPECT_THROW(find_changes({}, options), core::DomainError);
  FactorHistory history = quiet(4, 20);
  history.cpus[0].outlier.pop_back();
  EXPECT_THROW(find_changes({history}, {}), core::DomainError);
  EXPECT_TRUE(find_changes({}, {}).all.empty());
}

TEST(CommonFactor, MovesWithAllCpusAndNotWithOne) {
  std::vector<DatedValues> cpus;
  for (int cpu = 0; cpu < 5; ++cpu) {
    DatedValues one;
    for (int day = 0; day < 20; ++day) {
      one.day.push_back(day);
      one.value.push_back((10 + cpu) * (day >= 12 ? 0.9 : 1) * (cpu == 2 && day >= 15 ? 0.8 : 1));
    }
    cpus.push_back(one);
  }
  const CommonFactor common = common_factor(cpus);
  EXPECT_DOUBLE_EQ(common.of_day.at(3), 1);
  EXPECT_DOUBLE_EQ(common.of_day.at(19), 0.9);
  EXPECT_EQ(common.cpus_of_day.at(3), 5U);
  EXPECT_DOUBLE_EQ(common.ratios[0][19], common.ratios[0][0]);
  EXPECT_DOUBLE_EQ(common.ratios[2][19], 0.8 * common.ratios[2][0]);
}

TEST(CommonFactor, OfADayCountsEachCpuOnce) {
  std::vector<DatedValues> cpus(5, {{1, 2, 3, 4, 5, 6, 7, 8}, std::vector<double>(8, 10)});
  cpus[2].value.back() = 8;
  cpus[2].day.insert(cpus[2].day.end(), {8, 8, 8, 8, 9, 9, 9});
  cpus[2].value.insert(cpus[2].value.end(), {8, 8, 8, 8, 6, 8, 10});
  const CommonFactor common = common_factor(cpus);
  EXPECT_EQ(common.cpus_of_day.at(8), 5U);
  EXPECT_DOUBLE_EQ(common.of_day.at(8), 1);
  EXPECT_EQ(common.cpus_of_day.at(9), 1U);
  EXPECT_DOUBLE_EQ(common.of_day.at(9), 0.8);
  EXPECT_DOUBLE_EQ(common.ratios[2].back(), 10 / 0.8);
}

/// Two runs of a day with a change of the CPU between them were two CPUs.
TEST(CommonFactor, OfADayCountsACpuOnceThatWasChangedOnIt) {
  FactorHistory history;
  const auto add = [&](std::vector<std::int64_t> hours, const std::vector<double>& values,
                       const std::vector<std::size_t>& changes) {
    for (std::int64_t& one : hours) one *= 3600;
    history.cpus.push_back(
        {hours, values, std::vector<bool>(hours.size()), changes, changes, std::vector<std::size_t>(hours.size())});
  };
  add({0, 24, 48, 60, 72}, {10, 10, 10, 12, 12}, {0, 0, 0, 1, 1});
  add({0, 24, 48, 72}, {20, 20, 20, 20}, {0, 0, 0, 0});
  const auto ratios = ratios_of(history, 2);
  ASSERT_TRUE(ratios);
  EXPECT_EQ(ratios->common.cpus_of_day.at(2), 2U);
  EXPECT_DOUBLE_EQ(ratios->common.of_day.at(2), 1);
}

TEST(CommonFactor, RefusesValuesThatHaveNoRatio) {
  EXPECT_THROW(common_factor({{{1}, {0}}}), core::DomainError);
  EXPECT_THROW(common_factor({{{1}, {-1}}}), core::DomainError);
  EXPECT_THROW(common_factor({{{1, 2}, {1}}}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
