#include "hplcast/fit/run_series.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {
namespace {

/// Half the width of the interval for the mean of `r` new runs after `n` earlier ones, in their standard deviation.
double interval_factor(double confidence, std::size_t n, std::size_t r) {
  const auto earlier = static_cast<double>(n), later = static_cast<double>(r);
  return std::sqrt((1 / earlier + 1 / later) * f_limit(confidence, 1, n));
}

TEST(FLimit, GivesTheTabulatedIntervals) {
  struct Row {
    double confidence;
    std::size_t n;
    double limit, single, five;
  };
  const Row rows[] = {{0.9999, 10, 43.4767, 6.9155, 3.6115}, {0.9999, 20, 23.9851, 5.0184, 2.4487},
                      {0.9999, 50, 17.9414, 4.2779, 1.9867}, {0.9999, 100, 16.4434, 4.0753, 1.8583},
                      {0.999, 10, 22.8571, 5.0143, 2.6186},  {0.999, 50, 12.2531, 3.5353, 1.6419},
                      {0.99, 10, 10.5614, 3.4085, 1.7800}};
  constexpr double printed = 1e-4;  // digits of the table
  for (const Row& row : rows) {
    EXPECT_NEAR(f_limit(row.confidence, 1, row.n), row.limit, printed);
    EXPECT_NEAR(interval_factor(row.confidence, row.n, 1), row.single, printed);
    EXPECT_NEAR(interval_factor(row.confidence, row.n, 5), row.five, printed);
  }
}

/// Squared radius of the region of `p` factors, in the metric of the inverse covariance of the `n` earlier runs.
double region_radius_squared(double confidence, int p, int n, int r) {
  return (n - 1.0) * p / (n - p) * (n + r) / (1.0 * n * r) * f_limit(confidence, std::size_t(p), std::size_t(n));
}

TEST(RegionRadius, IsTheTabulatedOneOfSeveralFactors) {
  const std::pair<int, double> three[] = {{11, 124.593}, {15, 66.825}, {20, 46.978}, {40, 30.240}};
  for (const auto& [n, squared] : three) EXPECT_NEAR(region_radius_squared(0.9999, 3, n, 1), squared, 1e-3);
  const std::pair<int, double> eight[] = {{11, 17725}, {15, 505.9}, {20, 164.7}, {40, 60.05}};
  for (const auto& [n, squared] : eight)
    EXPECT_NEAR(region_radius_squared(0.9999, 8, n, 1) / squared, 1, 1e-3);  // four printed digits
}

TEST(FLimit, IsTheInverseOfTheTail) {
  for (const std::size_t p : {1, 3, 8}) EXPECT_NEAR(f_tail(f_limit(0.9999, p, 30), p, 30), 1e-4, 1e-12);
}

TEST(FLimit, RefusesWhatHasNoDistribution) {
  EXPECT_THROW(f_limit(0.99, 0, 10), core::DomainError);
  EXPECT_THROW(f_limit(0.99, 3, 3), core::DomainError);
  EXPECT_THROW(f_limit(1, 1, 10), core::DomainError);
  EXPECT_THROW(f_limit(std::nan(""), 1, 10), core::DomainError);
}

TEST(ReferenceRuns, HaveMeanAndCovarianceOfHandComputedValues) {
  ReferenceRuns runs(2);
  for (const auto& [x, y] : {std::pair(1.0, 2.0), {2.0, 4.0}, {3.0, 9.0}}) {
    const double values[] = {x, y};
    runs.add(values);
  }
  EXPECT_DOUBLE_EQ(runs.mean()[0], 2);
  EXPECT_DOUBLE_EQ(runs.mean()[1], 5);
  EXPECT_DOUBLE_EQ(runs.covariance(0, 0), 1);
  EXPECT_DOUBLE_EQ(runs.covariance(0, 1), 3.5);
  EXPECT_DOUBLE_EQ(runs.covariance(1, 1), 13);
}

ReferenceRuns wave(std::size_t dimensions, std::size_t n) {
  ReferenceRuns runs(dimensions);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> values;
    for (std::size_t d = 0; d < dimensions; ++d)
      values.push_back(100 + std::sin(static_cast<double>(i * i + 7 * d * i)));
    runs.add(values.data());
  }
  return runs;
}

TEST(ChewStatistic, ReachesItsLimitOnTheEdgeOfTheInterval) {
  const ReferenceRuns runs = wave(1, 20);
  for (const std::size_t r : {1, 5}) {
    const double edge = runs.mean()[0] + runs.standard_deviation(0, 0) * interval_factor(0.9999, runs.count(), r);
    EXPECT_NEAR(*chew_statistic(runs, {edge}, r, 0), f_limit(0.9999, 1, 20), 1e-9);
  }
}

TEST(ChewStatistic, ReachesItsLimitOnTheEdgeOfTheRegionAlongAFactor) {
  // Along one axis the squared distance is difference^2 times an element of the inverse covariance.
  const ReferenceRuns runs = wave(2, 30);
  const double a = runs.covariance(0, 0), b = runs.covariance(0, 1), c = runs.covariance(1, 1);
  const double inverse = c / (a * c - b * b);
  const double difference = std::sqrt(region_radius_squared(0.999, 2, 30, 5) / inverse);
  const double statistic = *chew_statistic(runs, {runs.mean()[0] + difference, runs.mean()[1]}, 5, 0);
  EXPECT_NEAR(statistic, f_limit(0.999, 2, 30), 1e-9);
}

TEST(ChewStatistic, OfAConstantFactorUsesTheLeastDeviation) {
  ReferenceRuns runs(1);
  const double constant = 100;
  for (int i = 0; i < 20; ++i) runs.add(&constant);
  EXPECT_DOUBLE_EQ(*chew_statistic(runs, {100}, 1, 1e-4), 0);
  EXPECT_NEAR(*chew_statistic(runs, {100.01}, 1, 1e-4), 20.0 / 21, 1e-9);  // one least deviation off
  EXPECT_TRUE(std::isinf(*chew_statistic(runs, {100.01}, 1, 0)));
}

TEST(ChewStatistic, SaysNothingOfTooFewRunsOrFactorsThatSayTheSame) {
  EXPECT_FALSE(chew_statistic(wave(3, 3), {100, 100, 100}, 1, 1e-4));
  ReferenceRuns twins(2);
  for (int i = 0; i < 20; ++i) {
    const double values[] = {100.0 + i, 200.0 + 2 * i};
    twins.add(values);
  }
  EXPECT_FALSE(chew_statistic(twins, {100, 250}, 1, 1e-4));
  EXPECT_THROW(chew_statistic(twins, {100}, 1, 1e-4), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
