// The published watts of taurus: least squares of all cores over the frequency, as the facts page has them.
#include <gtest/gtest.h>

#include <algorithm>

#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/fit/power_fit.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

PowerFit fit_of(const std::string& file, const std::string& application) {
  core::PublishedWatts which;
  which.application = application;
  for (int state = 0; state < 12; ++state) which.states_hz.push_back((23 - state) * 1e8);
  std::vector<core::PowerSample> samples;
  core::read_file(
      file, [&](std::istream& in, const std::string& name) { samples = core::read_watt_per_state(in, name, which); });
  return fit_power(power_rows(samples));
}

struct Curve {
  const char* host;
  double c0, c1, c2, r2, rms_w, max_w;
};

void expect_curves(const PowerFit& fit, const std::vector<Curve>& expected) {
  for (const Curve& curve : expected) {
    const auto found = std::find_if(fit.hosts.begin(), fit.hosts.end(),
                                    [&](const HostPowerFit& one) { return one.host == curve.host; });
    ASSERT_NE(found, fit.hosts.end()) << curve.host;
    ASSERT_EQ(found->all_cores.size(), 1U);
    const AllCoresCurve& all = found->all_cores.front();
    // The last digit that the facts page prints.
    EXPECT_NEAR(all.watts.coefficients[0], curve.c0, 0.01) << curve.host;
    EXPECT_NEAR(all.watts.coefficients[1], curve.c1, 0.01) << curve.host;
    EXPECT_NEAR(all.watts.coefficients[2], curve.c2, 0.01) << curve.host;
    EXPECT_NEAR(all.r2, curve.r2, 0.00001) << curve.host;
    EXPECT_NEAR(all.rms_w, curve.rms_w, 0.01) << curve.host;
    EXPECT_NEAR(all.max_residual_w, curve.max_w, 0.01) << curve.host;
    // With one core and all cores at each frequency the model has as many functions as there are counts: its own
    // power of all cores is the same curve. An outlier among the idle ones moves idle and awake only.
    const FittedWatts& core = found->states.at("default");
    EXPECT_NEAR(found->idle_w + found->awake.at(1.7) + 12 * core.at(1.7), all.watts.at(1.7), 1e-6) << curve.host;
  }
}

/// Worst of all 16 nodes.
void expect_worst(const PowerFit& fit, double r2, double rms_w, double max_w) {
  ASSERT_EQ(fit.hosts.size(), 16U);
  double least_r2 = 1, most_rms_w = 0, most_w = 0;
  for (const HostPowerFit& host : fit.hosts) {
    ASSERT_EQ(host.all_cores.size(), 1U) << host.host;
    least_r2 = std::min(least_r2, host.all_cores.front().r2);
    most_rms_w = std::max(most_rms_w, host.all_cores.front().rms_w);
    most_w = std::max(most_w, host.all_cores.front().max_residual_w);
  }
  EXPECT_NEAR(least_r2, r2, 0.00001);
  EXPECT_NEAR(most_rms_w, rms_w, 0.01);
  EXPECT_NEAR(most_w, max_w, 0.01);
}

TEST(PublishedPower, HasTheCurvesOfNasEp) {
  HPLCAST_REFERENCE_FILE(file, "power/taurus_watt_per_state.csv");
  const PowerFit fit = fit_of(file, "ep");
  ASSERT_TRUE(fit.ok) << fit.reason;
  expect_curves(fit, {{"3", 106.65, -4.81, 14.90, 0.99987, 0.19, 0.31},
                      {"5", 106.20, -5.03, 14.94, 0.99977, 0.25, 0.56},
                      {"8", 107.32, -3.25, 14.11, 0.99990, 0.16, 0.33},
                      {"12", 120.94, -2.88, 14.80, 0.99987, 0.19, 0.41}});
  expect_worst(fit, 0.99977, 0.25, 0.56);
}

TEST(PublishedPower, HasTheCurvesOfHpl) {
  HPLCAST_REFERENCE_FILE(file, "power/taurus_watt_per_state.csv");
  const PowerFit fit = fit_of(file, "hpl");
  ASSERT_TRUE(fit.ok) << fit.reason;
  expect_curves(fit, {{"3", 108.79, 5.47, 16.92, 0.99990, 0.23, 0.42},
                      {"5", 106.80, 6.55, 16.83, 0.99996, 0.14, 0.25},
                      {"8", 108.15, 7.72, 16.03, 0.99993, 0.19, 0.41},
                      {"12", 131.82, -2.85, 19.82, 0.99987, 0.26, 0.52}});
  expect_worst(fit, 0.99964, 0.43, 0.95);
}

TEST(PublishedPower, TheStandInForIdleOfTheFastestStateIsLeftOut) {
  HPLCAST_REFERENCE_FILE(file, "power/taurus_watt_per_state.csv");
  const PowerFit fit = fit_of(file, "hpl");
  int with_outlier = 0;
  for (const HostPowerFit& host : fit.hosts) {
    const bool has = std::any_of(host.outliers.begin(), host.outliers.end(),
                                 [](const PowerRow& row) { return row.state == "idle" && row.power_w == 115; });
    with_outlier += has ? 1 : 0;
    EXPECT_LT(host.idle_w, 108) << host.host << ": measured ones are 93 to 105 W";
  }
  EXPECT_EQ(with_outlier, 15) << "node 2 kept its own number";
}

}  // namespace
}  // namespace hplcast::fit
