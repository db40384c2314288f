#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::study {
namespace {

core::HplRun plain_run(long long N, double gflops) {
  core::HplRun run;
  run.parameters.N = N;
  run.gflops = gflops;
  return run;
}

core::Prediction plain_prediction(long long N, double gflops) {
  core::Prediction result;
  result.parameters.N = N;
  result.gflops = gflops;
  return result;
}

/// HPL spends 0.8 of the time in dgemm, and the control of the campaign takes 10 ms.
core::Prediction controlled_prediction(long long N, double gflops) {
  core::Prediction result = plain_prediction(N, gflops);
  result.time_s = 10;
  result.kernels["dgemm"].time_s = 8;
  result.control = core::Control{"640x640x640", 0.01, 0.01, 0.01, 0.01};
  return result;
}

/// A run on a machine on which the control takes `slowdown` times 10 ms, the same before and after the run.
core::HplRun controlled_run(long long N, double gflops, double slowdown) {
  core::HplRun run = plain_run(N, gflops);
  run.control = core::Control{"640x640x640", 0.01 * slowdown, 0.01 * slowdown, 0.01 * slowdown, 0.01 * slowdown};
  return run;
}

TEST(CompareControls, DivideTheErrorIntoMachineModelAndScatterThatAddUpToIt) {
  // The model is 2 percent too fast, the machine 10 percent slower; by hand: dgemm is 0.8 of the time.
  const double slower = std::exp(0.8 * std::log(1.1));
  const auto comparison = compare({controlled_run(100, 10 / slower, 1.1)}, {controlled_prediction(100, 10.2)});
  ASSERT_TRUE(comparison.rows.front().parts);
  const ErrorParts& parts = *comparison.rows.front().parts;
  EXPECT_DOUBLE_EQ(parts.calibration_s, 0.01);
  EXPECT_DOUBLE_EQ(parts.run_s, 0.011);
  EXPECT_NEAR(parts.corrected_error, 0.02, 1e-12);
  EXPECT_NEAR(parts.machine, 1.02 * slower - 1.02, 1e-12);
  EXPECT_EQ(parts.scatter, 0) << "one run does not scatter";
  EXPECT_DOUBLE_EQ(parts.machine + parts.model + parts.scatter, comparison.rows.front().error);
  ASSERT_TRUE(comparison.control);
  EXPECT_EQ(comparison.control->coefficient, 1) << "controls before and after are equal: they do not scatter";
  EXPECT_NEAR(comparison.control->median_slowdown, 0.1, 1e-12);
  EXPECT_NEAR(comparison.control->median_corrected_error, 0.02, 1e-12);
}

TEST(CompareControls, TakeTheElasticityOfThePredictionIfItHasOne) {
  core::Prediction with_interval = controlled_prediction(100, 10);
  with_interval.interval.emplace();
  with_interval.interval->terms.push_back({"dgemm", 0.01, 15, 0.9, "campaign"});
  const auto comparison = compare({controlled_run(100, 10, 1.1)}, {with_interval});
  EXPECT_NEAR(comparison.rows.front().parts->corrected_error, std::exp(-0.9 * std::log(1.1)) - 1, 1e-12);
}

TEST(CompareControls, TakeADifferenceWithinTheScatterOfTheRunsForScatter) {
  // Corrected, all runs but for scatter have 10 Gflop/s; the model is right.
  const auto speed = [](double slowdown) { return std::exp(0.8 * std::log(slowdown)); };
  const auto comparison =
      compare({controlled_run(100, 9.9 / speed(1.05), 1.05), controlled_run(100, 10.1 / speed(1.2), 1.2),
               controlled_run(100, 10.05 / speed(1.1), 1.1)},
              {controlled_prediction(100, 10)});
  const ErrorParts& parts = *comparison.rows.front().parts;
  EXPECT_EQ(parts.model, 0);
  EXPECT_NE(parts.scatter, 0);
  EXPECT_LT(std::abs(parts.corrected_error), 0.02);
  EXPECT_GT(parts.machine, 0.05);
  EXPECT_DOUBLE_EQ(parts.machine + parts.model + parts.scatter, comparison.rows.front().error);
}

TEST(CompareControls, CountLessIfTheyScatterThemselves) {
  // ln(high / low) is 0.2 and ln(run / calibration) 0.2, too: the mean of both has a variance of 0.01 of 0.04.
  core::HplRun run = controlled_run(100, 10, std::exp(0.2));
  run.control->low_s = run.control->wall_s * std::exp(-0.1);
  run.control->high_s = run.control->wall_s * std::exp(0.1);
  const auto comparison = compare({run}, {controlled_prediction(100, 10)});
  EXPECT_NEAR(*comparison.control->coefficient, 0.75, 1e-12);
  EXPECT_NEAR(comparison.rows.front().parts->machine, 1 - std::exp(-0.75 * 0.8 * 0.2), 1e-12);
}

TEST(CompareControls, ThatWereNotMeasuredDivideNothing) {
  const auto without_run = compare({plain_run(100, 10)}, {controlled_prediction(100, 10)});
  EXPECT_FALSE(without_run.rows.front().parts);
  EXPECT_FALSE(without_run.control);
  EXPECT_THAT(without_run.why_no_control, ::testing::HasSubstr("the real runs have no control"));
  EXPECT_THAT(compare({controlled_run(100, 10, 1)}, {plain_prediction(100, 10)}).why_no_control,
              ::testing::HasSubstr("the model has no control"));
  const auto some = compare({controlled_run(100, 10, 1), plain_run(100, 10)}, {controlled_prediction(100, 10)});
  EXPECT_THAT(some.why_no_control, ::testing::HasSubstr("some of the real runs"));
}

TEST(CompareControls, OfOtherShapesAreRefused) {
  core::HplRun run = controlled_run(100, 10, 1);
  run.control->shape = "512x512x512";
  EXPECT_THROW(compare({run}, {controlled_prediction(100, 10)}), core::InputError);
}

/// The machine is `slower` in this run, so are its kernels, and their model is off by `misfit`; ln.
RunSpeed run_speed(double control, double slower, double misfit) {
  return {control, 0, slower + misfit};
}

TEST(MachineChanges, AreTheChangesOfControlsWhereControlsDoNotScatter) {
  // The control says all of the change, so the rest of the kernels' is the model's, whatever its prior.
  const MachineChanges changes =
      machine_changes({{run_speed(0.1, 0.1, 0.03), run_speed(-0.2, -0.2, 0.03)}, {run_speed(0.05, 0.05, -0.04)}}, 0);
  ASSERT_EQ(changes.of_runs.size(), 2U);
  EXPECT_NEAR(changes.of_runs[0][0], 0.1, 1e-12);
  EXPECT_NEAR(changes.of_runs[0][1], -0.2, 1e-12);
  EXPECT_NEAR(changes.of_runs[1][0], 0.05, 1e-12);
  EXPECT_FALSE(changes.coefficient);
}

TEST(MachineChanges, AreThoseOfKernelsInTheRunsWhereControlsScatter) {
  // 12 configurations of 3 runs. The machine changes by 15 percent from run to run, controls miss it by 10 (all values
  // normal); it has become 20 percent slower, and the model of kernels is right within 1 percent.
  core::RandomStream random({7, core::stream_design, 0, 0});
  std::vector<std::vector<RunSpeed>> speeds(12);
  std::vector<std::vector<double>> truth(12);
  double controls_miss = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const double misfit = 0.01 * random.normal();
    for (int run = 0; run < 3; ++run) {
      const double machine = 0.2 + 0.15 * random.normal(), miss = 0.1 * random.normal();
      truth[i].push_back(machine);
      speeds[i].push_back(run_speed(machine + miss, machine, misfit));
      controls_miss += miss * miss / 36;
    }
  }
  const MachineChanges changes = machine_changes(speeds, 0);
  double squares = 0;
  for (std::size_t i = 0; i < speeds.size(); ++i)
    for (std::size_t run = 0; run < 3; ++run) squares += std::pow(changes.of_runs[i][run] - truth[i][run], 2) / 36;
  EXPECT_GT(std::sqrt(controls_miss), 0.08);
  // A misfit of 0.01, the mean of 36 controls to 0.1 / 6, of which less than two thirds count, and a share of each
  // configuration's own mean: below 0.01 + 0.011 + 0.006.
  EXPECT_LT(std::sqrt(squares), 0.027);
}

TEST(MachineChanges, SingleRunsTakeTheScatterOfTheirControls) {
  // v = 0.04 of the control; both priors are 0.02: the common part of 0.1 is 0.0004 / (0.0004 + 0.0004 + 0.04), and the
  // own one 0.0004 / (0.0004 + 0.04) of the rest.
  RunSpeed run = run_speed(0.1, 0.2, 0);
  run.control_half = 0.2;
  const double common = 0.1 * 0.0004 / 0.0408;
  EXPECT_NEAR(machine_changes({{run}}, 0).of_runs[0][0], 0.2 - common - 0.0004 / 0.0404 * (0.1 - common), 1e-12);
}

TEST(MachineChanges, WhatAllRunsShareMayBeTheControlOfTheCalibration) {
  // All runs of 100 configurations: kernels 10 percent above the controls, which do not scatter among them. With a
  // control of the calibration that is as little known as the model's common misfit, half is the model's.
  const std::vector<std::vector<RunSpeed>> speeds(100, {run_speed(0, 0, 0.1), run_speed(0, 0, 0.1)});
  EXPECT_NEAR(machine_changes(speeds, 0).of_runs[0][0], 0, 1e-12);
  // The mean of the own parts, of a variance of 0.0004 / 100, is hardly known to be none: 0.1 times 4e-6 / 8.04e-4.
  EXPECT_NEAR(machine_changes(speeds, 0.0004).of_runs[0][0], 0.05, 0.0003);
}

TEST(CompareControls, GoByKernelsInTheRunsWhereAllTellThem) {
  core::Prediction predicted = controlled_prediction(100, 10);
  predicted.kernels["dtrsm"].time_s = 1;  // all kernels take 9 of 10 s
  // Two runs between equal controls, one of them on a machine that was 30 percent slower for a while.
  const auto run = [&](double slower) {
    core::HplRun one = controlled_run(100, 10 / std::pow(slower, 0.9), 1);
    one.kernels_s = 9 * slower;
    return one;
  };
  const auto comparison = compare({run(1), run(1.3), run(1)}, {predicted});
  const ErrorParts& parts = *comparison.rows.front().parts;
  EXPECT_NEAR(*parts.kernels, 0, 1e-12);
  EXPECT_FALSE(comparison.control->coefficient);
  EXPECT_NEAR(*comparison.control->median_kernels, 0, 1e-12);
  // Without the change all runs are alike: the scatter that is left is that of rounding.
  EXPECT_LT(std::abs(parts.scatter), 0.02);
  // Runs that do not tell it all go by their controls.
  core::HplRun silent = run(1);
  silent.kernels_s.reset();
  const auto by_controls = compare({run(1), run(1.3), silent}, {predicted});
  EXPECT_TRUE(by_controls.control->coefficient);
  EXPECT_FALSE(by_controls.rows.front().parts->kernels);
}

TEST(CompareControls, AreInTheJson) {
  std::ostringstream out;
  write_comparison(out, compare({controlled_run(100, 10, 1.1)}, {controlled_prediction(100, 10.2)}));
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json.at("control").at("shape"), "640x640x640");
  EXPECT_NEAR(json.at("rows")[0].at("parts").at("run_control_s").get<double>(), 0.011, 1e-12);
  EXPECT_EQ(json.at("control").at("median_abs_corrected_error"),
            std::abs(json.at("rows")[0].at("parts").at("corrected_error").get<double>()));
}

}  // namespace
}  // namespace hplcast::study
