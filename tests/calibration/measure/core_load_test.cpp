#include "calibration/measure/core_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/power_design.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {
namespace {

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::isfinite(value) ? std::max(most, std::abs(value)) : 1e300;
  return most;
}

TEST(KernelLoad, EveryKernelWorksAndItsNumbersStayWhatTheyWere) {
  const auto matrices = std::make_shared<KernelMatrices>(1);
  const auto before = *matrices;
  for (const std::string& state : power_states()) {
    if (state == "polling" || state == "blocked" || state == "messages") continue;
    const auto load = kernel_load(state, matrices);
    const double begin_s = now_s();
    load(begin_s + 0.05);
    EXPECT_GE(now_s() - begin_s, 0.05) << state;
    // Uniform in [-0.5, 0.5], in whatever order and with whatever sign: power depends on the content.
    EXPECT_LE(largest(matrices->matrix), 0.5) << state;
    EXPECT_LE(largest(matrices->other), 0.5) << state;
    EXPECT_LE(largest(matrices->panel), 0.5) << state;
    EXPECT_EQ(matrices->triangle, before.triangle) << state;
  }
}

TEST(KernelLoad, RefusesWhatItCannotRun) {
  EXPECT_THROW(kernel_load("dlaswp01N", std::make_shared<KernelMatrices>(1)), core::DomainError);
}

}  // namespace
}  // namespace hplcast::calibration
