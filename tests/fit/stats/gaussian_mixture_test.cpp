#include "hplcast/fit/gaussian_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using Modes = std::vector<core::MixtureMode>;

std::vector<double> drawn(const Modes& modes, int count, std::uint64_t seed) {
  core::RandomStream stream({seed, core::stream_fit, 0, 99});
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const core::Draw draw = stream.next();
    const core::MixtureMode& mode = core::pick_mode(modes, draw.uniform);
    values.push_back(mode.mean + mode.sd * draw.normal);
  }
  return values;
}

TEST(GaussianMixture, FindsTheNumberOfModesAndTheirPlaces) {
  const Modes truth = {{0.6, 10, 0.5}, {0.3, 14, 1.0}, {0.1, 30, 2.0}};
  for (int count : {500, 2000, 50000}) {  // values are grouped from 501 on
    const Modes modes = fit_gaussian_mixture(drawn(truth, count, 1));
    ASSERT_EQ(modes.size(), 3u) << count;
    for (std::size_t i = 0; i < 3; ++i) {
      // Five standard errors of each parameter; 1.3 because the first two modes overlap a little.
      const double n = truth[i].probability * count;
      EXPECT_NEAR(modes[i].mean, truth[i].mean, 5 * 1.3 * truth[i].sd / std::sqrt(n));
      EXPECT_NEAR(modes[i].sd, truth[i].sd, 5 * 1.3 * truth[i].sd / std::sqrt(2 * n));
      EXPECT_NEAR(modes[i].probability, truth[i].probability, 5 * std::sqrt(0.25 / count));
    }
  }
}

TEST(GaussianMixture, FindsSharpModesThatAreFarApart) {
  // The middle half of all values is 500 times as wide as a mode: that says how far they are apart.
  const Modes truth = {{0.5, 1, 0.001}, {0.5, 2, 0.002}};
  for (int count : {40, 400, 2000}) {
    const Modes modes = fit_gaussian_mixture(drawn(truth, count, 1));
    ASSERT_EQ(modes.size(), 2u) << count;
    for (std::size_t i = 0; i < 2; ++i) {
      // Five standard errors of each parameter.
      const double n = truth[i].probability * count;
      EXPECT_NEAR(modes[i].mean, truth[i].mean, 5 * truth[i].sd / std::sqrt(n));
      EXPECT_NEAR(modes[i].sd, truth[i].sd, 5 * truth[i].sd / std::sqrt(2 * n));
      EXPECT_NEAR(modes[i].probability, truth[i].probability, 5 * std::sqrt(0.25 / count));
    }
  }
}

TEST(GaussianMixture, OneNormalLawIsOneMode) {
  int one = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    one += fit_gaussian_mixture(drawn({{1, 5, 2}}, 1000, seed)).size() == 1 ? 1 : 0;
  EXPECT_GE(one, 19);  // BIC prefers too many modes in well below 5 percent of the cases at n = 1000
}

TEST(GaussianMixture, KeepsTheMeanOfTheValues) {
  const std::vector<double> values = drawn({{0.9, 1, 0.05}, {0.1, 4, 1}}, 20000, 3);
  const Modes modes = fit_gaussian_mixture(values);
  double mean = 0, of_modes = 0;
  for (double value : values) mean += value / 20000;
  for (const auto& mode : modes) of_modes += mode.probability * mode.mean;
  EXPECT_NEAR(of_modes, mean, 1e-4 * mean);  // each EM step keeps it; the last mode update is within the tolerance
}

TEST(GaussianMixture, NeverCollapsesOnRepeatedValues) {
  std::vector<double> values = drawn({{1, 0, 1}}, 500, 4);
  values.insert(values.end(), 20, 0.25);  // a clock that likes one number
  const Modes modes = fit_gaussian_mixture(values);
  for (const auto& mode : modes) EXPECT_GT(mode.sd, 0.01);
}

TEST(GaussianMixture, EqualValuesAreOneModeWithoutSpread) {
  const Modes modes = fit_gaussian_mixture({2, 2, 2, 2});
  ASSERT_EQ(modes.size(), 1u);
  EXPECT_EQ(modes[0].mean, 2);
  EXPECT_EQ(modes[0].sd, 0);
}

TEST(GaussianMixture, FewValuesAreOneMode) {
  const Modes modes = fit_gaussian_mixture({1, 2, 4});
  EXPECT_EQ(modes.size(), 1u);
}

TEST(GaussianMixture, NoValuesHaveNoModes) {
  EXPECT_TRUE(fit_gaussian_mixture({}).empty());
}

TEST(GaussianMixture, RefusesNumbersThatAreNotFinite) {
  EXPECT_THROW(fit_gaussian_mixture({1, std::numeric_limits<double>::quiet_NaN()}), core::DomainError);
  EXPECT_THROW(fit_gaussian_mixture({1, std::numeric_limits<double>::infinity()}), core::DomainError);
}

TEST(GaussianMixture, EqualSeedsGiveEqualModes) {
  const std::vector<double> values = drawn({{0.5, 0, 1}, {0.5, 3, 1}}, 800, 5);
  const Modes a = fit_gaussian_mixture(values), b = fit_gaussian_mixture(values);
  EXPECT_EQ(a, b);
}

TEST(GaussianMixture, DensityIsTheSlopeOfTheDistribution) {
  const Modes modes = {{0.7, 1, 0.1}, {0.3, 2, 0.5}};
  // Density against the difference quotient of the distribution: 1e-6 is the truncation error of a step of 1e-4.
  EXPECT_NEAR(mixture_density(modes, 1.2), (mixture_cdf(modes, 1.2001) - mixture_cdf(modes, 1.1999)) / 2e-4, 1e-5);
}

}  // namespace
}  // namespace hplcast::fit
