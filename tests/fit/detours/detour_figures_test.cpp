// How soon a source of one detour per second is found: figures of docs/measurements/estimators.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hplcast/fit/detours.hpp"
#include "tests/support/asked.hpp"
#include "tests/support/figure.hpp"
#include "tests/support/generated_detours.hpp"

namespace hplcast::fit {
namespace {

const int detour_seeds = static_cast<int>(test::asked("HPLCAST_SEEDS", 40));

/// Share of the seeds in which a period of a second, or any, is found.
double share_found(core::DetourTimes times, double for_s, bool any) {
  core::DetourSource::Values agent;
  agent.name = "agent";
  agent.period_s = 1;
  agent.times = times;
  agent.duration = core::UniformDuration{1e-3, 2e-3};
  int found = 0;
  for (int seed = 1; seed <= detour_seeds; ++seed) {
    const tests::GeneratedDetours generated({agent}, {1, 2, for_s, 0.3}, static_cast<unsigned>(seed));
    const DetourFit fit = fit_detours(generated.trace());
    found += std::any_of(fit.sources.begin(), fit.sources.end(), [&](const FoundDetours& one) {
      const auto& values = one.source.values();
      return values.times.index() == 0 && (any || std::abs(values.period_s - 1) < 0.02);
    });
  }
  return static_cast<double>(found) / detour_seeds;
}

TEST(DetourFigures, SourcesOfASecondAreFoundInHalfAMinuteAndNoneAreInvented) {
  test::expect_figure("detours: a period found in 15 s", share_found(core::PeriodicDetours{1e-3, {}}, 15, false), 0.93,
                      1);
  test::expect_figure("detours: a period found in 30 s", share_found(core::PeriodicDetours{1e-3, {}}, 30, false), 0.95,
                      1);
  test::expect_figure("detours: a period found in 30 s, jitter of a fifth",
                      share_found(core::PeriodicDetours{0.2, {}}, 30, false), 0.9, 1);
  test::expect_figure("detours: a period invented in 60 s at random", share_found(core::PoissonDetours{}, 60, true), 0,
                      0.03);
}

}  // namespace
}  // namespace hplcast::fit
