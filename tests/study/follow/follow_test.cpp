#include "hplcast/study/follow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <random>
#include <utility>

#include "tests/support/reference_data.hpp"

namespace hplcast::study {
namespace {

/// A run whose truth is known.
struct SyntheticRun {
  double N = 100000, blocks = 500;
  double update_s = 950, linear_s = 20, constant_s = 5;
  double noise = 0.004;   ///< of each line's time, relative
  double stamp_s = 0.05;  ///< of each line
  double lines = 100;
  std::function<double(double elapsed_s)> rate = [](double) { return 1.0; };
  double pause_after_s = 1e300, pause_s = 0;

  struct Truth {
    std::vector<core::HplProgress> lines;
    double time_s = 0;
  };

  Truth draw(unsigned seed) const {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    Truth truth;
    double elapsed_s = 0;
    bool has_paused = false;
    for (double line = 1; line <= lines; ++line) {
      const double before = 1 - (line - 1) / lines, after = 1 - line / lines;
      const double expected_s = update_s * (std::pow(before, 3) - std::pow(after, 3)) +
                                linear_s * (before * before - after * after) + constant_s * (before - after);
      if (elapsed_s > pause_after_s && !std::exchange(has_paused, true)) elapsed_s += pause_s;
      elapsed_s += expected_s / rate(elapsed_s) * (1 + noise * normal(random));
      if (line < lines) truth.lines.push_back({N * line / lines, elapsed_s + stamp_s * normal(random), 0});
    }
    truth.time_s = elapsed_s * (1 + 100 / N);  // backward substitution
    return truth;
  }
};

core::HplParameters parameters_of(const SyntheticRun& run) {
  core::HplParameters parameters;
  parameters.N = static_cast<long long>(run.N);
  parameters.NB = static_cast<int>(run.N / run.blocks);
  return parameters;
}

RunOutlook follow(const SyntheticRun& run, const SyntheticRun::Truth& truth, double share = 1) {
  RunFollower follower(parameters_of(run), std::nullopt);
  RunOutlook outlook;
  for (const core::HplProgress& line : truth.lines) {
    if (line.column > share * run.N) break;
    if (const auto found = follower.take(line)) outlook = *found;
  }
  return outlook;
}

TEST(Follow, RecordedRunsEndAsSaidAfterATenthOfTheColumns) {
  HPLCAST_REFERENCE_FILE(folder, "alaska/hpl");
  for (const char* name :
       {"alaska_mkl_1x1_2020-10-22.out", "csd3_mkl_1x1_ib_2020-10-20.out", "csd3_mkl_1x1_roce_2020-10-20.out"}) {
    std::ifstream in(folder / name);
    const core::HplLog log = core::read_hpl_logs(in, name).at(0);
    RunFollower follower(log.parameters, std::nullopt);
    int lines = 0, inside = 0;
    for (const core::HplProgress& progress : log.progress) {
      const auto outlook = follower.take(progress);
      if (!outlook || progress.column < 0.1 * static_cast<double>(log.parameters.N)) continue;
      ++lines;
      EXPECT_NEAR(outlook->gflops, log.result->gflops, 0.01 * log.result->gflops) << name << " " << progress.column;
      inside += outlook->low_gflops <= log.result->gflops && log.result->gflops <= outlook->high_gflops ? 1 : 0;
      EXPECT_TRUE(outlook->departures.empty()) << name << " " << progress.column;
    }
    EXPECT_GE(lines, 90) << name;
    EXPECT_GE(inside, 0.9 * lines) << name;
  }
}

TEST(Follow, TheEndIsInsideTheIntervalAsOftenAsItSays) {
  // 60 runs, whose shapes are drawn from what is supposed before a run: 90 % of them, less 2.6 standard deviations.
  int inside = 0, wider = 0;
  constexpr unsigned runs = 60;
  for (unsigned seed = 0; seed < runs; ++seed) {
    std::mt19937 random(1000 + seed);
    std::uniform_real_distribution<double> uniform;
    SyntheticRun run;
    run.linear_s = 20 * uniform(random);
    run.constant_s = 6 * uniform(random);
    run.noise = 0.002 + 0.02 * uniform(random);
    run.stamp_s = 0.3 * uniform(random);
    run.lines = 50;
    const auto truth = run.draw(seed);
    const RunOutlook early = follow(run, truth, 0.2), late = follow(run, truth, 0.6);
    inside += early.low_time_s <= truth.time_s && truth.time_s <= early.high_time_s ? 1 : 0;
    wider += early.high_time_s - early.low_time_s > late.high_time_s - late.low_time_s ? 1 : 0;
    EXPECT_LT(early.high_time_s / early.low_time_s, 1.08) << seed;
  }
  EXPECT_GE(inside, runs * (0.9 - 2.6 * std::sqrt(0.09 / runs)));
  EXPECT_EQ(wider, static_cast<int>(runs)) << "the interval shrinks";
}

TEST(Follow, ThrottlingIsDated) {
  SyntheticRun run;
  run.rate = [](double elapsed_s) { return elapsed_s > 400 ? 0.92 : 1.0; };
  const auto truth = run.draw(1);
  const RunOutlook outlook = follow(run, truth);
  ASSERT_EQ(outlook.departures.size(), 1U);
  EXPECT_FALSE(outlook.departures[0].is_pause);
  // Lines are 20 s apart there, and the noise is a twentieth of the change: one line off at most.
  EXPECT_NEAR(outlook.departures[0].elapsed_s, 400, 41);
  EXPECT_NEAR(outlook.departures[0].change, -0.08, 0.02);
  // Half of the columns: told, and the end is known with the new rate.
  const RunOutlook half = follow(run, truth, 0.5);
  EXPECT_EQ(half.departures.size(), 1U);
  EXPECT_NEAR(half.time_s, truth.time_s, 0.02 * truth.time_s);
  EXPECT_LE(half.low_time_s, truth.time_s);
  EXPECT_GE(half.high_time_s, truth.time_s);
}

TEST(Follow, APauseIsNoChangeOfTheRate) {
  SyntheticRun run;
  run.pause_after_s = 400;
  run.pause_s = 30;
  const RunOutlook outlook = follow(run, run.draw(2), 0.5);
  ASSERT_EQ(outlook.departures.size(), 1U);
  EXPECT_TRUE(outlook.departures[0].is_pause);
  EXPECT_NEAR(outlook.departures[0].elapsed_s, 400, 41);
  EXPECT_NEAR(outlook.departures[0].change, 30, 3);
}

TEST(Follow, QuietRunsHaveNoDeparture) {
  int told = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SyntheticRun run;
    run.noise = 0.01;
    run.lines = 60;
    told += follow(run, run.draw(100 + seed)).departures.empty() ? 0 : 1;
  }
  EXPECT_LE(told, 1) << "odds of 100 to 1";
}

TEST(Follow, APredictionNarrowsTheIntervalAndShowsASlowNode) {
  SyntheticRun run;
  run.noise = 0.05;
  const auto truth = run.draw(3);
  core::Prediction prediction;
  prediction.parameters = parameters_of(run);
  prediction.time_s = truth.time_s;
  prediction.interval.emplace();
  prediction.interval->low_time_s = truth.time_s / 1.01;
  prediction.interval->high_time_s = truth.time_s * 1.01;
  const auto after = [&](const core::Prediction& expected) {
    RunFollower follower(prediction.parameters, expected);
    std::optional<RunOutlook> outlook;
    for (std::size_t i = 0; i < 5; ++i) outlook = follower.take(truth.lines[i]);
    return *outlook;
  };
  const RunOutlook alone = follow(run, truth, 0.05), with = after(prediction);
  EXPECT_LT(with.high_time_s - with.low_time_s, 0.7 * (alone.high_time_s - alone.low_time_s));
  EXPECT_NEAR(*with.behind_prediction, 0, 0.05) << "two standard deviations of the noise of five lines";
  core::Prediction faster = prediction;  // than the run: it should have had 10 % less time
  for (double* time_s : {&faster.time_s, &faster.interval->low_time_s, &faster.interval->high_time_s}) *time_s *= 0.9;
  const RunOutlook slow = after(faster);
  EXPECT_NEAR(*slow.behind_prediction, 0.11, 0.05);
}

TEST(Follow, OfSeveralPredictionsTheOneOfTheRunIsTaken) {
  core::HplLog run;
  run.has_grid = true;
  run.parameters.N = 60000;
  run.parameters.NB = 256;
  run.parameters.P = 2;
  run.parameters.DEPTH = 0;
  std::vector<core::Prediction> all(4);
  for (core::Prediction& one : all) one.parameters = run.parameters;
  all[0].parameters.N = 50000;
  all[1].parameters.NB = 64;
  all[2].parameters.DEPTH = 1;
  const auto taken = [&] { return prediction_of(run, all).value().parameters; };
  EXPECT_EQ(taken(), run.parameters);
  all.pop_back();
  EXPECT_EQ(taken(), all[2].parameters) << "NB matters more than DEPTH";
  all.pop_back();
  EXPECT_EQ(taken(), all[1].parameters) << "of the same N, P and Q";
  run.parameters.P = run.parameters.Q = 1;
  EXPECT_FALSE(prediction_of(run, all));
  run.has_grid = false;
  EXPECT_EQ(taken(), all[1].parameters) << "its grid may be any";
  EXPECT_FALSE(prediction_of(run, {}));
}

}  // namespace
}  // namespace hplcast::study
