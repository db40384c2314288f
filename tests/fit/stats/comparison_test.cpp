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

TEST(MeanInterval, IsThatOfStudent) {
  // n = 4, mean 2.5, s = sqrt(5/3), t(0.975; 3) = 3.182446.
  const Bounds bounds = mean_interval(summarize({1, 2, 3, 4}));
  EXPECT_NEAR(bounds.upper - 2.5, 3.182446 * std::sqrt(5.0 / 3 / 4), 1e-6);
  EXPECT_NEAR(bounds.lower + bounds.upper, 5, 1e-12);
  EXPECT_THROW(mean_interval(summarize({1})), core::DomainError);
  EXPECT_THROW(mean_interval(summarize({1, 2}), 1), core::DomainError);
}

TEST(MeanInterval, HoldsTheTruthAsOftenAsItSays) {
  const double mean = share_of(1000, [](std::uint64_t seed) {
    const Bounds b = mean_interval(summarize(normal_values(10, seed, 3, 2)));
    return b.lower <= 3 && 3 <= b.upper;
  });
  EXPECT_GE(mean, 0.93);
  EXPECT_LE(mean, 0.97);
}

TEST(WelchTTest, GivesTheTextbookValue) {
  // Means 3 and 5, variances 2.5 and 10, n = 5 each: t = -2/sqrt(2.5) = -1.264911, 5.882353 degrees of freedom.
  const TestResult test = welch_t_test(summarize({1, 2, 3, 4, 5}), summarize({1, 3, 5, 7, 9}));
  EXPECT_NEAR(test.statistic, -1.264911, 1e-6);
  EXPECT_NEAR(test.p_value, 0.2538, 5e-4);
  EXPECT_THROW(welch_t_test(summarize({1, 1}), summarize({2, 2})), core::DomainError);
}

TEST(MannWhitney, CountsPairs) {
  const TestResult test = mann_whitney({1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(test.statistic, 0);
  // Mean 4.5, variance 9*7/12: z = 4/2.291288 = 1.745743, two-sided 0.0809.
  EXPECT_NEAR(test.p_value, 0.080856, 1e-5);
  EXPECT_EQ(mann_whitney({1, 1}, {1, 1}).p_value, 1);
}

TEST(TwoSampleTests, RejectEqualDistributionsAsOftenAsTheyShould) {
  const auto pair = [](std::uint64_t seed) {
    return std::pair(normal_values(40, 2 * seed), normal_values(25, 2 * seed + 1));
  };
  using TwoSample = TestResult (*)(const Vector&, const Vector&);
  const TwoSample welch = [](const Vector& a, const Vector& b) { return welch_t_test(summarize(a), summarize(b)); };
  for (TwoSample test : {welch, TwoSample(mann_whitney)}) {
    const double share = share_of(1000, [&](std::uint64_t seed) {
      const auto [a, b] = pair(seed);
      return test(a, b).p_value < 0.05;
    });
    EXPECT_NEAR(share, 0.05, 0.025);
  }
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
