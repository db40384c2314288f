#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hplcast/core/prediction.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

/// Bins of 1 s.
template <typename Power>
PowerTrace trace_of(double time_s, Power power_w) {
  PowerTrace trace;
  trace.time_s = time_s;
  trace.bins_j.resize(static_cast<std::size_t>(std::ceil(time_s)));
  for (std::size_t i = 0; i < trace.bins_j.size(); ++i)
    trace.bins_j[i] = power_w(static_cast<double>(i)) * trace.duration_s(i);
  return trace;
}

double sum(const PowerTrace& trace) {
  double sum_j = 0;
  for (const double bin_j : trace.bins_j) sum_j += bin_j;
  return sum_j;
}

TEST(PowerTrace, HasALastBinThatMayBeShorter) {
  const PowerTrace trace = trace_of(2.5, [](double) { return 100; });
  EXPECT_EQ(trace.duration_s(0), 1);
  EXPECT_EQ(trace.duration_s(2), 0.5);
  EXPECT_EQ(trace.power_w(trace.bins_j, 2), 100);
  EXPECT_EQ(sum(trace), 250);
}

TEST(PowerLevels, OfConstantPowerAreAllThatPower) {
  const PowerTrace trace = trace_of(1234.5, [](double) { return 500; });
  const auto levels = power_levels(trace);
  ASSERT_TRUE(levels.has_value());
  EXPECT_NEAR(levels->level1_w, 500, 1e-9);
  ASSERT_EQ(levels->level2_w.size(), 10U);
  for (const double tenth_w : levels->level2_w) EXPECT_NEAR(tenth_w, 500, 1e-9);
  EXPECT_NEAR(levels->level3_j, 500 * 1234.5, 1e-6);
  ASSERT_EQ(levels->sampling.size(), 4U);
  for (const SamplingError& one : levels->sampling) EXPECT_NEAR(one.worst, 0, 1e-12) << one.interval_s;
}

TEST(PowerLevels, NeedAMinuteAndBinsOfASecond) {
  EXPECT_FALSE(power_levels(trace_of(59.9, [](double) { return 500; })));
  PowerTrace coarse = trace_of(600, [](double) { return 500; });
  coarse.bin_s = 2;
  coarse.time_s = 1200;
  EXPECT_FALSE(power_levels(coarse));
  const auto short_one = power_levels(trace_of(99, [](double) { return 500; }));
  ASSERT_TRUE(short_one.has_value());
  ASSERT_EQ(short_one->sampling.size(), 1U) << "an interval must give ten samples";
  EXPECT_EQ(short_one->sampling[0].interval_s, 1);
}

TEST(PowerLevels, TenthsOfAnInclineAreItsMeans) {
  const auto levels = power_levels(trace_of(1000, [](double second) { return 100 + second; }));
  ASSERT_TRUE(levels.has_value());
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_NEAR(levels->level2_w[i], 100 + 100 * static_cast<double>(i) + 49.5, 1e-9);
}

TEST(SamplingError, OfARhythmThatTheMeterFollowsIsThatOfItsPhase) {
  // Every 60 s one second of 160 W and 59 s of 100 W: the mean is 101 W; a meter reads 160 W always (one offset of 60),
  // or 100 W always.
  const PowerTrace trace = trace_of(6000, [](double second) { return std::fmod(second, 60) == 7 ? 160 : 100; });
  const SamplingError error = sampling_error(trace, 60);
  EXPECT_EQ(error.samples, 100);
  EXPECT_NEAR(error.worst, 160.0 / 101 - 1, 1e-12);
  EXPECT_NEAR(error.mean, ((160.0 / 101 - 1) + 59 * (1 - 100.0 / 101)) / 60, 1e-12);
  EXPECT_NEAR(sampling_error(trace, 1).worst, 0, 1e-12);
}

/// The trace of TUD Alpha (34 GPU nodes, core phase 6:52.342) by tenths of its time, mean 1 (issue 13, facts B3; public
/// data of tilsche/hpl-phases). From the whole trace sampling every 60 s was 5.16 % off at worst, every 30 s 2.75 %.
/// Tenths alone are coarser than the curve: they give the size of that.
TEST(SamplingError, OfThePublishedCurveOfAGpuSystemHasItsSize) {
  const double tenths[] = {0.437, 0.945, 1.166, 1.184, 1.180, 1.157, 1.118, 1.054, 0.949, 0.806};
  constexpr double core_s = 412.342;
  const PowerTrace trace =
      trace_of(core_s, [&](double second) { return tenths[static_cast<std::size_t>((second + 0.1) / core_s * 10)]; });
  const SamplingError minute = sampling_error(trace, 60), half = sampling_error(trace, 30);
  EXPECT_GT(minute.worst, 0.03);
  EXPECT_LT(minute.worst, 0.10);
  EXPECT_GT(half.worst, 0.01);
  EXPECT_LT(half.worst, minute.worst);
  const auto levels = power_levels(trace);
  ASSERT_TRUE(levels.has_value());
  for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(levels->level2_w[i], tenths[i], 0.02) << "bins of 1 s cross tenths";
  EXPECT_EQ(levels->sampling.back().interval_s, 30) << "60 s would give fewer than 10 samples";
}

/// Barnard (630 CPU nodes, 9:30:10): flat to 1 %, with a rhythm of the panels of 7 s and a standard deviation of 7.9 %.
/// A meter that reads every 60 s was 0.66 % off at worst. With a regular rhythm of 7.3 s the phases that it reads are
/// spread evenly, so it is off by no more than the published worst.
TEST(SamplingError, OfAFlatCurveWithARhythmOfSecondsIsSmall) {
  const PowerTrace trace = trace_of(
      34210, [](double second) { return 535.76e3 * (1 + 0.079 * std::sqrt(2.0) * std::sin(2 * M_PI * second / 7.3)); });
  EXPECT_LT(sampling_error(trace, 60).worst, 0.0066);
  EXPECT_NEAR(sum(trace) / 3.6e9, 5.09, 0.005) << "MWh, as published";
}

TEST(SamplingError, RefusesIntervalsThatTheTraceDoesNotHave) {
  const PowerTrace trace = trace_of(100, [](double) { return 1; });
  EXPECT_THAT(error_in([&] { sampling_error(trace, 0.5); }), HasSubstr("from 1 s, a bin of the trace, to its 100 s"));
  EXPECT_THAT(error_in([&] { sampling_error(trace, 101); }), HasSubstr("101 s"));
}

TEST(Energy, AddsUpItsParts) {
  Energy energy;
  energy.idle_j = 1000;
  energy.awake_j = 200;
  energy.network_j = 50;
  energy.states = {{"dgemm", 8, 700}, {"polling", 2, 50}};
  energy.add_up(10, 400);
  EXPECT_EQ(energy.energy_j, 2000);
  EXPECT_EQ(energy.mean_power_w, 200);
  EXPECT_EQ(energy.gflops_per_w, 2);
}

Prediction with_energy() {
  Prediction prediction;
  prediction.parameters.N = 1000;
  prediction.time_s = 10;
  prediction.gflops = 400;
  prediction.mode = "exact";
  Energy energy;
  energy.idle_j = 1000;
  energy.awake_share = 0.75;
  energy.states = {{"dgemm", 8, 700.125}, {"polling", 2, 0}};
  energy.unstated = {"polling"};
  energy.levels = PowerLevels{180, {170, 190}, 1700.125, {{60, 10, 0.05, 0.01}}};
  energy.add_up(10, 400);
  prediction.energy = energy;
  return prediction;
}

TEST(Energy, OfAPredictionIsReadAsItWasWritten) {
  std::ostringstream first;
  write_prediction(first, with_energy());
  std::istringstream in(first.str());
  const Prediction back = read_prediction(in, "p.json");
  std::ostringstream second;
  write_prediction(second, back);
  EXPECT_EQ(second.str(), first.str());
  ASSERT_TRUE(back.energy && back.energy->levels);
  EXPECT_EQ(back.energy->states[0].energy_j, 700.125);
  EXPECT_EQ(back.energy->levels->sampling[0].worst, 0.05);
}

TEST(Energy, OfAPredictionWithUnknownKeysIsRefused) {
  std::ostringstream out;
  write_prediction(out, with_energy());
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = out.str();
    text.replace(text.find(from), from.size(), to);
    std::istringstream in(text);
    return error_in([&] { read_prediction(in, "p.json"); });
  };
  EXPECT_THAT(error("\"idle_j\"", "\"idle\""), HasSubstr("/energy/idle"));
  EXPECT_THAT(error("\"worst_error\"", "\"worst\""), HasSubstr("/energy/levels/sampling/0/worst"));
  EXPECT_THAT(error("\"idle_j\": 1000", "\"idle_j\": -1"), HasSubstr("/energy/idle_j"));
}

}  // namespace
}  // namespace hplcast::core
