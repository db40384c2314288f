#include "hplcast/fit/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using Vector = std::vector<double>;

Vector normal_values(int count, std::uint64_t seed, double mean = 0, double sd = 1) {
  core::RandomStream stream({seed, core::stream_fit, 0, 31});
  Vector values;
  for (int i = 0; i < count; ++i) values.push_back(mean + sd * stream.normal());
  return values;
}

/// Share of `runs` in which `hit(seed)` is true.
template <typename Hit>
double share_of(int runs, Hit hit) {
  int hits = 0;
  for (int run = 0; run < runs; ++run) hits += hit(static_cast<std::uint64_t>(run)) ? 1 : 0;
  return static_cast<double>(hits) / runs;
}

TEST(ShapiroWilk, GivesThePublishedValues) {
  // The weights of 11 men, example of Shapiro and Wilk (1965); R 4 and SciPy print W = 0.7888148, p = 0.006703814.
  const TestResult men = shapiro_wilk({148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236});
  EXPECT_NEAR(men.statistic, 0.7888148, 5e-7);
  EXPECT_NEAR(men.p_value, 0.006703814, 2e-8);
  // Three equally spaced values are as normal as three values can be.
  EXPECT_NEAR(shapiro_wilk({1, 2, 3}).statistic, 1, 1e-12);
  EXPECT_NEAR(shapiro_wilk({1, 2, 3}).p_value, 1, 1e-6);
}

TEST(ShapiroWilk, RejectsNormalValuesAsOftenAsItShould) {
  for (int count : {8, 30, 200})
    // 5 percent of 1000 runs: one standard deviation is 0.7 percent; Royston's approximation is good to half a percent.
    EXPECT_NEAR(
        share_of(1000, [&](std::uint64_t seed) { return shapiro_wilk(normal_values(count, seed)).p_value < 0.05; }),
        0.05, 0.025)
        << count;
}

TEST(ShapiroWilk, SeesSkewedValuesAndAnyScale) {
  Vector skewed = normal_values(200, 1);
  for (double& value : skewed) value = 1e-9 * std::abs(value);
  EXPECT_LT(shapiro_wilk(skewed).p_value, 1e-3);
  Vector tiny = normal_values(20000, 2, 1e-6, 1e-12);
  EXPECT_GT(shapiro_wilk(tiny).p_value, 0.001);
}

TEST(ShapiroWilk, RefusesWhatItCannotJudge) {
  EXPECT_THROW(shapiro_wilk({1, 2}), core::DomainError);
  EXPECT_THROW(shapiro_wilk({2, 2, 2}), core::DomainError);
  EXPECT_THROW(shapiro_wilk({1, 2, std::nan("")}), core::DomainError);
}

TEST(MeanInterval, IsThatOfStudent) {
  // n = 4, mean 2.5, s = sqrt(5/3), t(0.975; 3) = 3.182446.
  const Bounds bounds = mean_interval(Vector{1, 2, 3, 4});
  EXPECT_NEAR(bounds.upper - 2.5, 3.182446 * std::sqrt(5.0 / 3 / 4), 1e-6);
  EXPECT_NEAR(bounds.lower + bounds.upper, 5, 1e-12);
  EXPECT_THROW(mean_interval(Vector{1}), core::DomainError);
  EXPECT_THROW(mean_interval(Vector{1, 2}, 1), core::DomainError);
}

TEST(MedianInterval, TakesTheOrderStatisticsOfTheBinomialLaw) {
  // n = 10: 2nd and 9th value, level 1 - 2 * 11/1024 (Conover 1999, table A3).
  const Bounds ten = median_interval({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(ten.lower, 2);
  EXPECT_EQ(ten.upper, 9);
  EXPECT_NEAR(ten.level, 1 - 22.0 / 1024, 1e-12);
  const Bounds three = median_interval({1, 2, 3});
  EXPECT_EQ(three.lower, 1);
  EXPECT_NEAR(three.level, 0.75, 1e-12);
  EXPECT_EQ(median_interval({5}).level, 0);
}

TEST(Intervals, HoldTheTruthAsOftenAsTheySay) {
  const double mean = share_of(1000, [](std::uint64_t seed) {
    const Bounds b = mean_interval(normal_values(10, seed, 3, 2));
    return b.lower <= 3 && 3 <= b.upper;
  });
  EXPECT_GE(mean, 0.93);
  EXPECT_LE(mean, 0.97);
  const double median = share_of(1000, [](std::uint64_t seed) {
    Vector values = normal_values(100, seed);
    for (double& value : values) value = std::exp(value);  // median 1, far from normal
    const Bounds b = median_interval(values);
    return b.lower <= 1 && 1 <= b.upper;
  });
  EXPECT_GE(median, 0.93);
  EXPECT_LE(median, 0.975);  // bounds are sorted values: with 100 of them the exact level is 96.5 percent
}

TEST(WelchTTest, GivesTheTextbookValue) {
  // Means 3 and 5, variances 2.5 and 10, n = 5 each: t = -2/sqrt(2.5) = -1.264911, 5.882353 degrees of freedom.
  const TestResult test = welch_t_test(Vector{1, 2, 3, 4, 5}, Vector{1, 3, 5, 7, 9});
  EXPECT_NEAR(test.statistic, -1.264911, 1e-6);
  EXPECT_NEAR(test.p_value, 0.2538, 5e-4);
  EXPECT_THROW(welch_t_test(Vector{1, 1}, Vector{2, 2}), core::DomainError);
}

TEST(MannWhitney, CountsPairs) {
  const TestResult test = mann_whitney({1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(test.statistic, 0);
  // Mean 4.5, variance 9*7/12: z = 4/2.291288 = 1.745743, two-sided 0.0809.
  EXPECT_NEAR(test.p_value, 0.080856, 1e-5);
  EXPECT_EQ(mann_whitney({1, 1}, {1, 1}).p_value, 1);
}

TEST(KolmogorovSmirnov, MeasuresTheLargestDistance) {
  EXPECT_DOUBLE_EQ(kolmogorov_smirnov({1, 2, 3, 4}, {3, 4, 5, 6}).statistic, 0.5);
  EXPECT_EQ(kolmogorov_smirnov({1, 2, 3}, {1, 2, 3}).p_value, 1);
  EXPECT_LT(kolmogorov_smirnov(normal_values(200, 1), normal_values(200, 2, 1)).p_value, 1e-6);
}

TEST(TwoSampleTests, RejectEqualDistributionsAsOftenAsTheyShould) {
  const auto pair = [](std::uint64_t seed) {
    return std::pair(normal_values(40, 2 * seed), normal_values(25, 2 * seed + 1));
  };
  using TwoSample = TestResult (*)(const Vector&, const Vector&);
  for (TwoSample test : {TwoSample(welch_t_test), TwoSample(mann_whitney), TwoSample(kolmogorov_smirnov)}) {
    const double share = share_of(1000, [&](std::uint64_t seed) {
      const auto [a, b] = pair(seed);
      return test(a, b).p_value < 0.05;
    });
    EXPECT_NEAR(share, 0.05, 0.025);
  }
}

TEST(PredictionRegion, InOneDimensionIsTheTextbookInterval) {
  // n = 4, mean 2.5, s^2 = 5/3; for one new value t(0.975; 3) s sqrt(1 + 1/4).
  const ObservationSummary past = summarize_observations({{1}, {2}, {3}, {4}});
  const Bounds bounds = prediction_interval(past, 1);
  EXPECT_NEAR(bounds.upper - 2.5, 3.182446 * std::sqrt(5.0 / 3 * 1.25), 1e-6);
  EXPECT_TRUE(prediction_region(past, {bounds.upper - 1e-6}, 1).inside());
  EXPECT_FALSE(prediction_region(past, {bounds.upper + 1e-6}, 1).inside());
  EXPECT_NEAR(prediction_region(past, {bounds.upper}, 1).p_value, 0.05, 1e-9);
}

TEST(PredictionRegion, HoldsTheMeanOfNewObservationsAsOftenAsItSays) {
  // Correlated coefficients of the sizes of dgemm's; 12 past days, the mean of 3 new ones.
  const auto day = [](core::RandomStream& stream) {
    const double common = stream.normal();
    return Vector{7e-11 + 1e-12 * common, 2e-6 + 1e-7 * (common + stream.normal()), 3e-12 + 1e-13 * stream.normal()};
  };
  const double share = share_of(1000, [&](std::uint64_t seed) {
    core::RandomStream stream({seed, core::stream_fit, 0, 32});
    std::vector<Vector> past, fresh;
    for (int i = 0; i < 12; ++i) past.push_back(day(stream));
    for (int i = 0; i < 3; ++i) fresh.push_back(day(stream));
    return prediction_region(summarize_observations(past), summarize_observations(fresh).mean, 3).inside();
  });
  EXPECT_GE(share, 0.93);
  EXPECT_LE(share, 0.97);
}

TEST(PredictionRegion, RefusesTooFewOrDependentObservations) {
  const ObservationSummary line = summarize_observations({{1, 2}, {2, 4}, {3, 6}, {4, 8}});
  EXPECT_THROW(prediction_region(line, {1, 2}, 1), core::DomainError);
  const ObservationSummary few = summarize_observations({{1, 2}, {2, 1}});
  EXPECT_THROW(prediction_region(few, {1, 2}, 1), core::DomainError);
  const ObservationSummary good = summarize_observations({{1, 2}, {2, 1}, {3, 5}, {0, 1}});
  EXPECT_THROW(prediction_region(good, {1}, 1), core::DomainError);
  EXPECT_THROW(prediction_region(good, {1, 2}, 0), core::DomainError);
  EXPECT_THROW(summarize_observations({{1, 2}, {1}}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
