#include "hplcast/fit/detours.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {
namespace {

/// Published runs of a detector (Lomonosov-2: series of collectives beside a source of a level in percent), with the
/// increase in percent, the gap of the 99 % intervals in s, and Welch's p (-1: not given), computed independently from
/// the same rounded means and standard deviations.
struct PublishedRow {
  double percent;
  SampleSummary clean, noisy;
  double increase, gap, p_value;
};

const std::vector<PublishedRow> published = {
    {1, {444.22, 1.39, 6}, {450.56, 1.96, 5}, 1.43, 0.02, 5e-4},       // Barrier, 42.25 M, 4 nodes
    {1, {546.66, 1.03, 8}, {555.91, 2.09, 11}, 1.69, 5.98, 1.5e-9},    // Barrier, 49 M, 4 nodes (second group)
    {1, {318.67, 3.19, 6}, {331.66, 4.95, 8}, 4.08, 1.61, 7e-5},       // Allreduce, 10 M, 2 KB, 4 nodes
    {1, {403.62, 0.29, 10}, {404.55, 0.32, 8}, 0.23, 0.24, 1.5e-5},    // Alltoall, 500, 2 MB, 4 nodes
    {1, {552.94, 2.16, 12}, {561.04, 2.74, 12}, 1.46, 3.71, 8e-8},     // Alltoall, 75,000, 16 KB, 4 nodes
    {1, {515.88, 1.63, 13}, {526.39, 3.28, 15}, 2.04, 6.61, 3.6e-10},  // Alltoall, 250,000, 2 KB, 8 nodes
    {1, {430.65, 1.28, 22}, {436.31, 1.24, 22}, 1.31, 4.14, 2.4e-18},  // Alltoall, 500,000, 2 KB, 4 nodes
    {1, {557.99, 14.34, 23}, {571.96, 16.59, 6}, 2.50, -21.8, 0.10},   // Alltoall, 1 M, 1 KB, 4 nodes
    {0.01, {430.65, 1.28, 22}, {431.82, 1.14, 10}, 0.27, -0.77, -1},
    {0.01, {515.88, 1.63, 13}, {517.35, 3.43, 5}, 0.28, -6.97, -1},
    {0.05, {430.65, 1.28, 22}, {432.42, 2.21, 3}, 0.41, -11.7, -1},
    {0.05, {515.88, 1.63, 13}, {522.65, 0.73, 5}, 1.31, 3.89, -1},
    {0.1, {430.65, 1.28, 22}, {432.99, 1.47, 10}, 0.54, 0.06, -1},
    {0.1, {515.88, 1.63, 13}, {519.23, 4.29, 5}, 0.65, -6.86, -1},
    {0.3, {430.65, 1.28, 22}, {434.21, 1.65, 7}, 0.83, 0.48, -1},
    {0.3, {515.88, 1.63, 13}, {519.30, 1.12, 5}, 0.66, -0.27, -1},
    {0.3, {546.66, 1.03, 8}, {551.58, 1.66, 5}, 0.90, 0.23, -1},
    {0.5, {430.65, 1.28, 22}, {435.01, 1.48, 8}, 1.01, 1.76, -1},
    {0.5, {515.88, 1.63, 13}, {526.46, 0.89, 5}, 2.05, 7.37, -1},
    {0.5, {552.94, 2.16, 12}, {560.13, 0.35, 5}, 1.30, 4.53, -1},
    {0.5, {546.66, 1.03, 8}, {552.80, 0.75, 5}, 1.12, 3.32, -1},
    {0.7, {430.65, 1.28, 22}, {435.61, 2.24, 10}, 1.15, 1.89, -1},
    {0.7, {515.88, 1.63, 13}, {528.95, 2.66, 4}, 2.53, 3.92, -1},
    {0.7, {552.94, 2.16, 12}, {561.15, 0.66, 5}, 1.48, 4.91, -1},
    {0.7, {546.66, 1.03, 8}, {555.19, 0.85, 5}, 1.56, 5.51, -1},
    {1, {430.65, 1.28, 22}, {436.30, 1.24, 22}, 1.31, 4.13, -1},
    {1, {515.88, 1.63, 13}, {526.40, 3.28, 15}, 2.04, 6.62, -1},
    {1, {552.94, 2.16, 12}, {561.04, 2.74, 12}, 1.46, 3.71, -1},
    {1, {546.66, 1.03, 8}, {555.90, 2.09, 11}, 1.69, 5.97, -1},
};

TEST(DetectorSensitivity, IsThatOfThePublishedTables) {
  for (const PublishedRow& row : published) {
    SCOPED_TRACE(std::to_string(row.clean.mean) + ", " + std::to_string(row.noisy.mean));
    const Sensitivity result = detector_sensitivity(row.clean, {{row.percent / 100, row.noisy}});
    ASSERT_EQ(result.levels.size(), 1U);
    const LevelResult& level = result.levels[0];
    // Increases and gaps are printed with two digits, from means with two: some rows were rounded before.
    EXPECT_NEAR(100 * level.increase, row.increase, 0.011);
    EXPECT_NEAR(level.gap, row.gap, row.noisy.count < 4 || std::abs(row.gap) > 20 ? 0.06 : 0.011);
    EXPECT_EQ(level.detection == Detection::seen, row.gap > 0);
    // Two digits at most are printed.
    if (row.p_value > 0) {
      EXPECT_NEAR(std::log(level.p_value / row.p_value), 0, 0.1);
    }
  }
}

TEST(DetectorSensitivity, HasTheLimitThatTheLevelsAboveItShare) {
  // 500,000 Alltoall of 2 KB on 4 nodes: 0.1 % is seen by a hair.
  const SampleSummary clean{430.65, 1.28, 22};
  const Sensitivity result = detector_sensitivity(clean, {{1e-4, {431.82, 1.14, 10}},
                                                          {5e-4, {432.42, 2.21, 3}},
                                                          {1e-3, {432.99, 1.47, 10}},
                                                          {0.01, {436.30, 1.24, 22}},
                                                          {3e-3, {434.21, 1.65, 7}}});
  ASSERT_TRUE(result.limit);
  EXPECT_EQ(*result.limit, 1e-3);
  EXPECT_EQ(result.levels.front().level, 0.01);
  // On 8 nodes 0.05 % was seen and 0.1 % was not: the limit is above both.
  const Sensitivity eight = detector_sensitivity(
      {515.88, 1.63, 13}, {{5e-4, {522.65, 0.73, 5}}, {1e-3, {519.23, 4.29, 5}}, {5e-3, {526.46, 0.89, 5}}});
  EXPECT_EQ(eight.limit, 5e-3);
}

TEST(DetectorSensitivity, SaysWhenTooFewRunsWereMade) {
  const Sensitivity few = detector_sensitivity({100, 1, 3}, {{0.01, {101, 1, 3}}});
  EXPECT_EQ(few.levels[0].detection, Detection::undecided);
  EXPECT_FALSE(few.limit);
  // (2.576 x 2 + 1.282 sqrt(2))^2 = 48.5: the intervals must not overlap. It was 30, for a test of 1 % alone.
  EXPECT_EQ(few.levels[0].runs_needed, 49);
  const Sensitivity enough = detector_sensitivity({100, 1, 100}, {{0.01, {100, 1, 100}}});
  EXPECT_EQ(enough.levels[0].detection, Detection::not_seen);
  const Sensitivity faster = detector_sensitivity({100, 1, 100}, {{0.01, {98, 1, 100}}});
  EXPECT_EQ(faster.levels[0].detection, Detection::faster);
}

TEST(DetectorSensitivity, NineOfTenStudiesOfTheRunsThatAreNeededSeeIt) {
  std::mt19937_64 engine(12);
  std::normal_distribution<double> duration(0, 1);
  const auto runs = [&](double mean) {
    std::vector<double> values;
    for (int i = 0; i < 49; ++i) values.push_back(mean + duration(engine));
    return summarize(values);
  };
  int seen = 0;
  for (int study = 0; study < 1000; ++study)
    seen += detector_sensitivity(runs(100), {{0.01, runs(101)}}).levels[0].detection == Detection::seen ? 1 : 0;
  EXPECT_NEAR(seen, 885, 30) << "of 1000; with 30 runs, 490";
}

TEST(DetectorSensitivity, OfShamRunsIsNothing) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> duration(100, 1);
  const auto runs = [&](int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i) values.push_back(duration(engine));
    return summarize(values);
  };
  int seen = 0;
  constexpr int studies = 1000;
  for (int study = 0; study < studies; ++study)
    seen += detector_sensitivity(runs(8), {{0, runs(8)}}).levels[0].detection == Detection::seen ? 1 : 0;
  // Two intervals of 99 % that do not overlap are rarer than the 1 % of the test: about 2 in 10,000, on this side.
  EXPECT_LE(seen, 3);
}

TEST(DetectorSensitivity, RefusesWhatIsNoStudy) {
  EXPECT_THROW(detector_sensitivity({1, 1, 1}, {}), core::DomainError);
  EXPECT_THROW(detector_sensitivity({1, 0, 5}, {{0.01, {1, 0, 5}}}), core::DomainError);
  EXPECT_THROW(detector_sensitivity({1, 1, 5}, {{1, {1, 1, 5}}}), core::DomainError);
  EXPECT_THROW(summarize({1}), core::DomainError);
  EXPECT_THROW(summarize({1, NAN}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
