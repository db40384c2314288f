#include "fit/series/change_points.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/findings.hpp"

namespace hplcast::fit {
namespace {

std::vector<double> steps(const std::vector<std::pair<std::size_t, double>>& parts, double sd) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> noise(0, sd);
  std::vector<double> values;
  for (const auto& [runs, mean] : parts)
    for (std::size_t i = 0; i < runs; ++i) values.push_back(mean + noise(engine));
  return values;
}

TEST(ChangePoints, AreWhereTheMeanChanges) {
  const auto found = change_points(steps({{50, 100}, {30, 93}, {60, 100}}, 0.5));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].first, 50U);
  EXPECT_NEAR(found[0].effect, -0.07, 0.005);  // four times the standard error of the difference
  EXPECT_EQ(found[1].first, 80U);
  EXPECT_NEAR(found[1].effect, 100 / 93.0 - 1, 0.005);
}

TEST(ChangePoints, AreAbsentInNoise) {
  int found = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> noise(100, 2);
    std::vector<double> values(200);
    for (double& value : values) value = noise(engine);
    ChangePointOptions options;
    options.least_effect = 0;
    found += change_points(values, options).empty() ? 0 : 1;
  }
  EXPECT_LE(found, 3);  // 4 ln n is far in the tail of the largest of 200 squared normals
}

TEST(ChangePoints, SmallerThanTheLeastEffectAreNotTold) {
  EXPECT_TRUE(change_points(steps({{50, 100}, {50, 100.5}}, 0.05)).empty());
}

TEST(ChangePoints, NeedEnoughRunsOnBothSides) {
  EXPECT_TRUE(change_points({}).empty());
  EXPECT_TRUE(change_points({1}).empty());
  EXPECT_TRUE(change_points(steps({{5, 100}, {6, 90}}, 0.5)).empty());
  EXPECT_EQ(change_points(steps({{50, 100}, {6, 90}}, 0.5)).size(), 1U);
}

TEST(ChangePoints, OfAConstantSeriesAreItsSteps) {
  EXPECT_TRUE(change_points(std::vector<double>(40, 7)).empty());
  EXPECT_EQ(change_points(steps({{20, 7}, {20, 8}}, 0)).size(), 1U);
}

TEST(ChangePoints, RefuseBadValues) {
  EXPECT_THROW(change_points({1, std::nan("")}), core::DomainError);
  ChangePointOptions options;
  options.penalty = 0;
  EXPECT_THROW(change_points({1, 2}, options), core::DomainError);
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

TEST(CommonFactor, RefusesValuesThatHaveNoRatio) {
  EXPECT_THROW(common_factor({{{1}, {0}}}), core::DomainError);
  EXPECT_THROW(common_factor({{{1}, {-1}}}), core::DomainError);
  EXPECT_THROW(common_factor({{{1, 2}, {1}}}), core::DomainError);
}

TEST(Corrected, IsWhatHandsCompute) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> holm = {0.03, 0.06, 0.06, 0.02};
  const std::vector<double> hochberg = {0.02, 0.04, 0.04, 0.02};
  const auto first = corrected(p, 4, Correction::holm), second = corrected(p, 4, Correction::benjamini_hochberg);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(first[i], holm[i], 1e-15);
    EXPECT_NEAR(second[i], hochberg[i], 1e-15);
  }
  EXPECT_EQ(corrected(p, 4, Correction::none), p);
}

TEST(Corrected, CountsTestsThatAreNotListed) {
  EXPECT_NEAR(corrected({0.001}, 100, Correction::holm)[0], 0.1, 1e-15);
  EXPECT_NEAR(corrected({0.001, 0.002}, 100, Correction::benjamini_hochberg)[1], 0.1, 1e-15);
  EXPECT_TRUE(corrected({}, 5, Correction::holm).empty());
  EXPECT_THROW(corrected({0.1, 0.2}, 1, Correction::holm), core::DomainError);
  EXPECT_THROW(corrected({1.5}, 1, Correction::holm), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
