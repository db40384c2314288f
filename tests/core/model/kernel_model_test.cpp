#include "hplcast/core/kernel_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

Polynomial constant(double value) {
  return Polynomial::make({{}}, {value});
}

struct Moments {
  double mean, sd, min;
};

Moments moments(const DurationLaw& law, int n) {
  double sum = 0, squares = 0, min = 1e300;
  for (int i = 0; i < n; ++i) {
    const double d = law.sample_s({}, draw({5, stream_kernel, 0, 0}, static_cast<std::uint64_t>(i)));
    sum += d;
    squares += d * d;
    min = std::min(min, d);
  }
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean), min};
}

constexpr int n_draws = 400000;
// Five standard errors of a mean of n_draws with sd 0.1; of an sd the same to order of magnitude (kurtosis below 10).
constexpr double mean_tolerance = 5 * 0.1 / 632;
constexpr double sd_tolerance = 3 * mean_tolerance;

TEST(DurationLaw, EveryFamilyHasExpectationMuAndStandardDeviationSigma) {
  for (const NoiseFamily family : {NoiseFamily::half_normal, NoiseFamily::normal, NoiseFamily::log_normal}) {
    const auto law = DurationLaw::make(constant(1.0), constant(0.1), family);
    const Moments m = moments(law, n_draws);
    EXPECT_NEAR(m.mean, 1.0, mean_tolerance) << to_string(family);
    EXPECT_NEAR(m.sd, 0.1, sd_tolerance) << to_string(family);
  }
}

TEST(DurationLaw, HalfNormalNeverGoesBelowThePublishedMinimum) {
  const auto law = DurationLaw::make(constant(1.0), constant(0.1), NoiseFamily::half_normal);
  // mu - 1.3236 sigma, ../shared/data/README.md; reached in the limit |Z| -> 0.
  const Moments m = moments(law, n_draws);
  EXPECT_GE(m.min, 1 - 0.13237);
  EXPECT_LT(m.min, 1 - 0.13230);
}

TEST(DurationLaw, NegativeSigmaMirrorsTheHalfNormal) {
  const auto law = DurationLaw::make(constant(1.0), constant(-0.1), NoiseFamily::half_normal);
  EXPECT_NEAR(moments(law, n_draws).mean, 1.0, mean_tolerance);
  EXPECT_EQ(law.sd_s({}), 0.1);
  EXPECT_GT(law.sample_s({}, {0.5, 0.0}), 1.0);
}

TEST(DurationLaw, MixtureHasItsMoments) {
  const auto law = DurationLaw::make(constant(2.0), {}, NoiseFamily::mixture, {{0.9, 0.98, 0.01}, {0.1, 1.18, 0.02}});
  const Moments m = moments(law, n_draws);
  EXPECT_NEAR(m.mean, 2.0, 2 * mean_tolerance);
  EXPECT_NEAR(m.sd, law.sd_s({}), 2 * sd_tolerance);
}

TEST(DurationLaw, RefusesMixturesThatChangeTheExpectation) {
  EXPECT_THROW(DurationLaw::make(constant(1), {}, NoiseFamily::mixture, {}), DomainError);
  EXPECT_THROW(DurationLaw::make(constant(1), {}, NoiseFamily::mixture, {{1, 1.1, 0}}), DomainError);
  EXPECT_THROW(DurationLaw::make(constant(1), {}, NoiseFamily::mixture, {{0.5, 1, 0}}), DomainError);
  EXPECT_THROW(DurationLaw::make(constant(1), {}, NoiseFamily::normal, {{1, 1, 0}}), DomainError);
}

TEST(DurationLaw, WithoutNoiseIsItsMean) {
  const auto law = DurationLaw::make(Polynomial::make({{1, 1, 1}}, {1e-10}), constant(5), NoiseFamily::none);
  EXPECT_EQ(law.sample_s({100, 100, 10}, {0.1, 3.0}), law.mean_s({100, 100, 10}));
}

TEST(PiecewiseLaw, PicksThePieceByItsMonomial) {
  const auto law = PiecewiseLaw::make({0, 1, 0}, {{0, DurationLaw::make(constant(1), {}, NoiseFamily::none)},
                                                  {100, DurationLaw::make(constant(2), {}, NoiseFamily::none)}});
  EXPECT_EQ(law.at({1, 99.5, 1}).mean_s({}), 1);
  EXPECT_EQ(law.at({1, 100, 1}).mean_s({}), 2);
  EXPECT_EQ(law.at({1, 1e9, 1}).mean_s({}), 2);
}

TEST(KernelModel, UsesTheLawOfTheCpuWhereThereIsOne) {
  const auto law = [](double c) { return PiecewiseLaw(DurationLaw::make(constant(c), {}, NoiseFamily::none)); };
  const auto model = KernelModel::make("M0", law(1), {{3, 1, law(31)}, {0, 1, law(2)}});
  EXPECT_EQ(model.law(0, 0).at({}).mean_s({}), 1);
  EXPECT_EQ(model.law(0, 1).at({}).mean_s({}), 2);
  EXPECT_EQ(model.law(3, 1).at({}).mean_s({}), 31);
  EXPECT_THROW(KernelModel::make("M0", law(1), {{3, 1, law(31)}, {3, 1, law(2)}}), DomainError);
  EXPECT_THROW(KernelModel::make("M7", law(1)), DomainError);
}

TEST(ShapeRange, IsInclusive) {
  const ShapeRange range{{1, 1, 128}, {1000, 1000, 128}};
  EXPECT_TRUE(contains(range, {1000, 1, 128}));
  EXPECT_FALSE(contains(range, {1001, 1, 128}));
  EXPECT_FALSE(contains(range, {10, 1, 64}));
}

}  // namespace
}  // namespace hplcast::core
