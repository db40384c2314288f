#include "hplcast/fit/run_series.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {
namespace {

RunSeries series_of(const std::vector<double>& values) {
  return {1, values, std::vector<bool>(values.size()), std::vector<std::size_t>(values.size())};
}

/// Without noise a test would see every digit.
std::vector<double> noisy(std::size_t runs, double mean) {
  std::vector<double> values;
  for (std::size_t i = 0; i < runs; ++i) values.push_back(mean + std::sin(static_cast<double>(i * i)));
  return values;
}

TEST(PublishedScores, OfAConstantSeriesBeginAfterTheLeastNumberOfRuns) {
  RunSeries series = series_of(std::vector<double>(30, 100.0));
  const std::vector<double> more(30, 101.0);
  series.values.insert(series.values.end(), more.begin(), more.end());
  series.outlier.resize(60);
  series.epoch.resize(60, 1);
  PublishedTestOptions options;
  options.least_runs = 8;
  options.keep = 3;
  const auto scores = published_scores(series, options);
  for (std::size_t i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const bool untested = i < 8 || (i >= 33 && i < 38);
    EXPECT_EQ(scores[i].region == Region::untested, untested);
    if (untested) continue;
    const double in_new = i < 33 ? static_cast<double>(i) - 30 : 0;  // runs of the new ones that are in the old set
    const double expected = i < 30 ? 100 : i < 33 ? 100 + in_new / (30 + in_new) : 101;
    EXPECT_NEAR(scores[i].expected, expected, 1e-12);
    const bool differs = i == 30 || i == 31;  // the third is hidden by the first two, which the set has taken up
    EXPECT_EQ(scores[i].region, differs ? Region::above : Region::inside);
  }
}

TEST(PublishedScores, CompareOutliersWithWhatTheRunBeforeWasComparedWith) {
  RunSeries series = series_of({4, 3, 5, 42, 72, 5, 5, 28});
  for (const std::size_t i : {3, 4, 7}) series.outlier[i] = true;
  PublishedTestOptions options;
  options.least_runs = 2;  // the published example has 1: no standard deviation, so no test
  const auto scores = published_scores(series, options);
  const double expected[] = {0, 0, 3.5, 3.5, 3.5, 4, 4.25, 4.25};
  for (std::size_t i = 2; i < 8; ++i) EXPECT_DOUBLE_EQ(scores[i].expected, expected[i]) << i;
  EXPECT_EQ(scores[1].region, Region::untested);
}

TEST(PublishedScores, HideALastingChange) {
  std::vector<double> values = noisy(40, 100);
  for (int i = 0; i < 20; ++i) values.push_back(110 + std::sin(i * i));
  const auto published = published_scores(series_of(values), {});
  EXPECT_EQ(published[40].region, Region::above);
  EXPECT_EQ(published[45].region, Region::inside);
  const auto ours = RunTests({}).scores(series_of(values));
  for (std::size_t i = 40; i < 60; ++i) EXPECT_EQ(ours[i].region, Region::above) << i;
}

TEST(RunTests, ComparesWithAllEarlierNormalRuns) {
  std::vector<double> values = noisy(30, 100);
  values[20] = 150;
  RunSeries series = series_of(values);
  series.outlier[25] = true;
  const auto scores = RunTests({}).scores(series);
  EXPECT_EQ(scores[9].region, Region::untested);
  EXPECT_EQ(scores[10].reference_runs, 10U);
  EXPECT_EQ(scores[20].region, Region::above);
  EXPECT_EQ(scores[29].reference_runs, 27U);  // 29 less the flagged and the logged one
  EXPECT_NEAR(scores[20].half_width, scores[20].sd * std::sqrt(21. / 20 * f_limit(0.9999, 1, 20)), 1e-9);
}

TEST(RunTests, HaveOneReferenceForAllLowerConfidences) {
  RunSeries series;
  for (int i = 0; i < 60; ++i) series.values.push_back(100 + ((i * 7) % 5 - 2) + (i == 40 ? 5 : i == 50 ? 50 : 0));
  series.outlier.resize(60);
  series.epoch.resize(60);
  RunTestOptions options;
  const std::vector<RunScore> usual = RunTests(options).scores(series);
  options.confidence = 0.9;
  const std::vector<RunScore> lower = RunTests(options).scores(series);
  EXPECT_EQ(usual[40].region, Region::inside);
  EXPECT_EQ(lower[40].region, Region::above) << "and enters the reference";
  EXPECT_EQ(lower.back().reference_runs, 58U) << "all but the one that is 50 off";
  for (std::size_t i = 0; i < usual.size(); ++i) {
    EXPECT_EQ(lower[i].reference_runs, usual[i].reference_runs) << i;
    EXPECT_EQ(lower[i].statistic, usual[i].statistic) << i;
    EXPECT_EQ(lower[i].is_kept_out, i == 50) << i;
  }
}

TEST(RunTests, BeginsANewReferenceAtAChange) {
  std::vector<double> values = noisy(30, 100);
  RunSeries series = series_of(values);
  for (std::size_t i = 15; i < 30; ++i) series.epoch[i] = 2;
  const auto scores = RunTests({}).scores(series);
  EXPECT_EQ(scores[14].region, Region::inside);
  for (std::size_t i = 15; i < 25; ++i) EXPECT_EQ(scores[i].region, Region::untested) << i;
  EXPECT_EQ(scores[25].reference_runs, 10U);
}

TEST(RunTests, OfAWindowLeavesItsRunsOutOfTheReference) {
  RunTestOptions options;
  options.window = 5;
  std::vector<double> values = noisy(40, 100);
  for (std::size_t i = 30; i < 40; ++i) values[i] += 3;
  const auto scores = RunTests(options).scores(series_of(values));
  EXPECT_EQ(scores[13].region, Region::untested);
  EXPECT_EQ(scores[14].reference_runs, 10U);
  EXPECT_EQ(scores[34].region, Region::above);
  EXPECT_TRUE(scores[34].without_worst);
  EXPECT_EQ(scores[39].region, Region::above);
}

TEST(RunTests, DoesNotTakeOneBadRunForATrend) {
  RunTestOptions options;
  options.window = 5;
  std::vector<double> values = noisy(40, 100);
  values[30] += 30;
  const auto scores = RunTests(options).scores(series_of(values));
  for (std::size_t i = 30; i < 35; ++i) EXPECT_EQ(scores[i].region, Region::inside) << i;
  options.window = 2;  // whose median is the mean
  const auto pairs = RunTests(options).scores(series_of(values));
  for (std::size_t i = 30; i < 32; ++i) {
    EXPECT_EQ(pairs[i].region, Region::above) << i;
    EXPECT_FALSE(pairs[i].without_worst) << i;
  }
}

TEST(RunTests, HaveWiderLimitsWhereRunsAreLikeTheRunsBefore) {
  // Blocks of five equal runs: neighbours correlate by 0.8.
  std::vector<double> alike, unlike;
  for (int i = 0; i < 200; ++i) {
    alike.push_back(100 + std::sin(i / 5 * (i / 5)));
    unlike.push_back(100 + std::sin(i * i));
  }
  RunTestOptions options;
  options.window = 5;
  const RunScore like_before = RunTests(options).scores(series_of(alike)).back();
  const RunScore independent = RunTests(options).scores(series_of(unlike)).back();
  EXPECT_EQ(independent.autocorrelation, 0);
  EXPECT_NEAR(like_before.autocorrelation, 0.8, 0.1);
  const double n = 195, a = like_before.autocorrelation;
  const double inflated = 1 + 2 * (0.8 * a + 0.6 * a * a + 0.4 * std::pow(a, 3) + 0.2 * std::pow(a, 4));
  const double limit = std::sqrt(f_limit(0.9999, 1, 195));
  EXPECT_NEAR(like_before.half_width / like_before.sd / limit,
              std::sqrt(0.287 * inflated + 1.57 * (1 + a) / (1 - a) / n), 0.003);  // 0.287, 1.57: three digits
  EXPECT_NEAR(independent.half_width / independent.sd / limit, std::sqrt(0.287 + 1.57 / n), 0.003);
}

TEST(RunTests, TestsSeveralFactorsAtOnce) {
  // Two factors that go together: a run that leaves the line is seen, though each factor alone is nothing special.
  RunSeries series;
  series.dimensions = 2;
  for (int i = 0; i < 40; ++i) {
    const double x = std::sin(i * i), y = 0.1 * std::sin(i * i * i + 1);
    series.values.insert(series.values.end(), {100 + x, 50 + x + y});
  }
  series.values[2 * 39] = 100.5;
  series.values[2 * 39 + 1] = 49.5;
  series.outlier.resize(40);
  series.epoch.resize(40);
  const auto both = RunTests({}).scores(series);
  EXPECT_EQ(both[38].region, Region::inside);
  EXPECT_EQ(both[39].region, Region::outside);
  std::vector<double> first;
  for (std::size_t i = 0; i < 40; ++i) first.push_back(series.values[2 * i]);
  EXPECT_EQ(RunTests({}).scores(series_of(first))[39].region, Region::inside);
}

TEST(RunTests, RefuseBadSeries) {
  RunTests tests({});
  RunSeries series = series_of({1, 2, 3});
  series.epoch = {0, 1, 0};
  EXPECT_THROW(tests.scores(series), core::DomainError);
  EXPECT_THROW(tests.scores(series_of({1, std::nan("")})), core::DomainError);
  series = series_of({1, 2, 3});
  series.values.pop_back();
  EXPECT_THROW(tests.scores(series), core::DomainError);
  EXPECT_THROW(tests.scores(series_of({1, 2}), {true}), core::DomainError);
  RunTestOptions options;
  options.confidence = 1;
  EXPECT_THROW(RunTests{options}, core::DomainError);
  options = {};
  options.window = 0;
  EXPECT_THROW(RunTests{options}, core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
