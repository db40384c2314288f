// 95 percent intervals hold the truth in 93 to 97 percent of 1,000 repetitions, for every family of noise. The standard
// deviation of such a share is 0.7 percent.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

#include "hplcast/fit/kernel_fit.hpp"
#include "tests/fit/kernel/synthetic_kernel.hpp"

namespace hplcast::fit {
namespace {

using core::DurationLaw;
using core::KernelShape;
using core::Monomial;
using core::NoiseFamily;
using core::Polynomial;

constexpr int repetitions = 1000;

struct Case {
  const char* name;
  NoiseFamily family;
  NoiseLevel level;
  Weighting weighting;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

/// The truth: dgemm without its mn term; constant noise for N1, else 5 percent.
DurationLaw truth_of(const Case& one) {
  const Polynomial mu = Polynomial::make({{1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {}}, {7e-11, 2e-9, 3e-9, 1e-5});
  if (one.family == NoiseFamily::mixture)
    return DurationLaw::make(mu, {}, one.family, {{0.8, 0.97, 0.01}, {0.2, 1.12, 0.03}});
  const Polynomial sigma = one.level == NoiseLevel::n1 ? Polynomial::make({{}}, {2e-6}) : core::scaled(mu, 0.05);
  return DurationLaw::make(mu, sigma, one.family);
}

KernelFitOptions options_of(const Case& one) {
  KernelFitOptions options;
  options.terms = {{1, 1, 1}, {1, 0, 1}, {0, 1, 1}};
  options.weighting = one.weighting;
  options.noise = one.level;
  options.family.reset();
  if (one.family != NoiseFamily::mixture) options.family = one.family;
  options.remove_insignificant = false;
  options.keep_positive = false;
  return options;
}

class Coverage : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Kernel, Coverage,
    ::testing::Values(Case{"NormalN1Ordinary", NoiseFamily::normal, NoiseLevel::n1, Weighting::ordinary},
                      Case{"HalfNormalN1Ordinary", NoiseFamily::half_normal, NoiseLevel::n1, Weighting::ordinary},
                      Case{"NormalN2Ordinary", NoiseFamily::normal, NoiseLevel::n2, Weighting::ordinary},
                      Case{"HalfNormalN2Totals", NoiseFamily::half_normal, NoiseLevel::n2, Weighting::totals},
                      Case{"NormalN2Totals", NoiseFamily::normal, NoiseLevel::n2, Weighting::totals},
                      Case{"LogNormalN2Totals", NoiseFamily::log_normal, NoiseLevel::n2, Weighting::totals},
                      Case{"HalfNormalN2Relative", NoiseFamily::half_normal, NoiseLevel::n2, Weighting::relative},
                      Case{"MixtureRelative", NoiseFamily::mixture, NoiseLevel::mixture, Weighting::relative}),
    [](const auto& one) { return one.param.name; });

TEST_P(Coverage, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const DurationLaw truth = truth_of(GetParam());
  const KernelFitOptions options = options_of(GetParam());
  const std::vector<KernelShape> shapes = test::random_shapes(150, 32, 1000, 77);
  const std::vector<KernelShape> asked = {{50, 60, 70}, {300, 200, 250}, {900, 900, 900}};
  std::map<std::string, int> held;
  for (int run = 0; run < repetitions; ++run) {
    const auto seed = static_cast<std::uint64_t>(1000 + run);
    const KernelFit fit = fit_kernel(test::measured(truth, shapes, 2, seed), options);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    const PolynomialFit& mu = fit.pieces[0].mu;
    for (std::size_t i = 0; i < mu.polynomial.terms().size(); ++i) {
      const Monomial& term = mu.polynomial.terms()[i];
      // The interval of a coefficient: 1.97 is the Student quantile of the 146 and more spare shapes or calls.
      const bool inside =
          std::abs(mu.polynomial.coefficients()[i] - truth.mu().coefficient(term)) <= 1.97 * mu.standard_errors[i];
      held["coefficient of " + to_string(term)] += inside ? 1 : 0;
    }
    core::RandomStream stream({seed, core::stream_fit, 0, 5});
    for (const KernelShape& shape : asked) {
      const std::string where = " at m = " + std::to_string(static_cast<int>(shape.m));
      const Bounds mean = mean_interval_s(fit, shape), call = prediction_interval_s(fit, shape);
      held["mean" + where] += mean.lower <= truth.mean_s(shape) && truth.mean_s(shape) <= mean.upper ? 1 : 0;
      const double duration = truth.sample_s(shape, stream.next());
      held["new call" + where] += call.lower <= duration && duration <= call.upper ? 1 : 0;
    }
  }
  for (const auto& [what, count] : held) {
    RecordProperty(std::regex_replace(what, std::regex("[^a-z0-9]+"), "_"), count);
    EXPECT_GE(count, 0.93 * repetitions) << what;
    EXPECT_LE(count, 0.97 * repetitions) << what;
  }
}

}  // namespace
}  // namespace hplcast::fit
