// How good the fit of a kernel is with few calls: figures of docs/measurements/estimators.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hplcast/fit/hpl_kernels.hpp"
#include "tests/fit/kernel/synthetic_kernel.hpp"
#include "tests/support/asked.hpp"
#include "tests/support/figure.hpp"

namespace hplcast::fit {
namespace {

const int kernel_seeds = static_cast<int>(test::asked("HPLCAST_SEEDS", 60));
constexpr double relative_noise = 0.1;

/// The updates of HPL with N = 4000, NB = 128 on one rank, within the sizes measured: expectation and scatter, summed.
std::pair<double, double> hpl_total(const core::DurationLaw& law) {
  std::pair<double, double> total;
  for (double n = 4000; n >= 128; n -= 128) {
    total.first += law.mean_s({n, n, 128});
    total.second += law.sd_s({n, n, 128});
  }
  return total;
}

/// Found over true, by seed, sorted.
struct Ratios {
  std::vector<double> totals, sigmas;
  double mean() const {
    double sum = 0;
    for (const double one : totals) sum += one;
    return sum / static_cast<double>(totals.size());
  }
  double sd() const {
    double squares = 0;
    for (const double one : totals) squares += std::pow(one - mean(), 2);
    return std::sqrt(squares / static_cast<double>(totals.size() - 1));
  }
  double sigma(double quantile) const {
    return sigmas[static_cast<std::size_t>(quantile * static_cast<double>(sigmas.size() - 1))];
  }
};

Ratios ratios(int shapes, int calls) {
  const core::DurationLaw law = test::dgemm_law(core::NoiseFamily::half_normal, relative_noise);
  const auto truth = hpl_total(law);
  Ratios found;
  for (int seed = 1; seed <= kernel_seeds; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const KernelTable table = test::measured(law, test::random_shapes(shapes, 64, 4000, number), calls, number);
    const KernelFit fit = fit_hpl_kernel("dgemm", table);
    if (!fit.ok()) continue;
    const auto total = hpl_total(fit.model.cluster_law().at({}));
    found.totals.push_back(total.first / truth.first);
    found.sigmas.push_back(total.second / truth.second);
  }
  std::sort(found.sigmas.begin(), found.sigmas.end());
  return found;
}

TEST(KernelFigures, FewCallsGiveTheMeanWithoutBiasAndTheScatterRoughly) {
  const Ratios some = ratios(20, 1), many = ratios(60, 3);
  // Beyond 0.1 %, chance: three standard errors of the mean over the seeds.
  const double errors = 3 / std::sqrt(static_cast<double>(kernel_seeds));
  test::expect_figure("kernels, 60 x 3 calls: bias of HPL's total", many.mean() - 1, -0.001 - many.sd() * errors,
                      0.001 + many.sd() * errors);
  test::expect_figure("kernels, 20 x 1 calls: bias of HPL's total", some.mean() - 1, -0.001 - some.sd() * errors,
                      0.001 + some.sd() * errors);
  test::expect_figure("kernels: sd of HPL's total, 20 x 1 over 60 x 3 calls", some.sd() / many.sd(), 2, 5);
  // The facts' quantiles, with three standard errors of a quantile of a normal law over the seeds.
  const double chance = 3 * std::sqrt(0.1 * 0.9 / kernel_seeds) / 0.175;
  test::expect_figure("kernels, 60 x 3 calls: sigma over truth, 10 %", many.sigma(0.1), 0.85 - 0.12 * chance, 1);
  test::expect_figure("kernels, 60 x 3 calls: sigma over truth, 90 %", many.sigma(0.9), 1, 1.15 + 0.12 * chance);
  // With this noise and these shapes more than the facts' 0.2 to 1.4, but within those of half as many calls.
  test::expect_figure("kernels, 20 x 1 calls: sigma over truth, 10 %", some.sigma(0.1), 0.1, 1);
  test::expect_figure("kernels, 20 x 1 calls: sigma over truth, 90 %", some.sigma(0.9), 1, 2.5);
}

}  // namespace
}  // namespace hplcast::fit
