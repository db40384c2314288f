#include "hplcast/fit/run_power.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;

/// A node as cei of PCAD: the step from idle to one core is far larger than that of a further core.
constexpr double idle_w = 25, awake_w = 39, core_w = 2.6, waiting_w = 1.2, start_j = 88;

struct RunPlan {
  double scatter = 0;       ///< of a configuration around the model, as a ratio
  double sd = 0;            ///< of a run around its configuration, as a ratio
  double setup_factor = 1;  ///< of the setup_s that the table says
  double waits_at_w = waiting_w;
  bool idle_hosts = true, several_counts = true, waiting = true;
  std::uint64_t seed = 1;
};

RunEnergy run_of(int hosts, int ranks_per_host, double time_s, double setup_s, double waiting_share,
                 const RunPlan& plan, core::RandomStream& random) {
  RunEnergy run;
  run.hosts = hosts;
  run.ranks_per_host = ranks_per_host;
  run.time_s = time_s;
  run.setup_s = setup_s;
  const double seconds = time_s + plan.setup_factor * setup_s, waiting_s = waiting_share * time_s;
  if (plan.waiting) run.waiting_s = waiting_s;
  const double watts = ranks_per_host == 0 ? idle_w : idle_w + awake_w;
  run.runs = 10;
  run.energy_j =
      hosts * (watts * seconds + ranks_per_host * (core_w * (seconds - waiting_s) + plan.waits_at_w * waiting_s) +
               (ranks_per_host == 0 ? 0 : start_j));
  run.energy_sd_j = plan.sd * run.energy_j;
  run.energy_j *= 1 + std::hypot(plan.scatter, plan.sd / std::sqrt(10.0)) * random.normal();
  return run;
}

/// 8 ranks on 1, 2 and 4 hosts, runs of 0.2 to 60 s; single ranks; idle hosts.
std::vector<RunEnergy> generate_runs(const RunPlan& plan) {
  core::RandomStream random({plan.seed, core::stream_generate, 50, 0, 0});
  std::vector<RunEnergy> runs;
  for (const double time_s : {0.2, 3.0, 12.0, 60.0})
    for (const int hosts : {1, 2, 4}) {
      if (hosts > 1 && !plan.several_counts) continue;
      runs.push_back(run_of(hosts, 8 / hosts, time_s, 0, 0.1 * hosts, plan, random));
      runs.push_back(run_of(hosts, 8 / hosts, time_s / 10, time_s, 0.7 / hosts, plan, random));
    }
  if (plan.several_counts)
    for (const double time_s : {1.0, 30.0}) runs.push_back(run_of(1, 1, time_s, 0, 0, plan, random));
  if (plan.idle_hosts)
    for (const double time_s : {25.0, 30.0, 28.0}) runs.push_back(run_of(1, 0, time_s, 0, 0, plan, random));
  return runs;
}

TEST(RunPower, RecoversWattsAndJoulesOfNoiselessRuns) {
  const RunPowerFit fit = fit_run_power(generate_runs({}));
  ASSERT_TRUE(fit.ok) << fit.reason;
  // The least scatter that the fit allows is 1e-4; without noise only rounding is left.
  EXPECT_NEAR(fit.idle_w.value, idle_w, 1e-6);
  EXPECT_NEAR(fit.awake_w.value, awake_w, 1e-6);
  EXPECT_NEAR(fit.core_w.value, core_w, 1e-6);
  EXPECT_NEAR(fit.waiting_w.value, waiting_w, 1e-6);
  EXPECT_NEAR(fit.start_j.at("").value, start_j, 1e-6);
  EXPECT_THAT(fit.flags, IsEmpty());
  EXPECT_LT(fit.mean_abs_error(), 1e-9);
  EXPECT_NEAR(fit.model.core(0, 0, core::CoreState::blocked).at({}), waiting_w, 1e-6);
  EXPECT_NEAR(fit.model.core(0, 0, core::CoreState::messages).at({}), core_w, 1e-6);
}

TEST(RunPower, FindsTheTruthWithinTwoStandardErrorsAsOftenAsTheySay) {
  constexpr int sets = 60;
  int within = 0;
  for (int set = 0; set < sets; ++set) {
    RunPlan plan;
    plan.scatter = 0.03;
    plan.sd = 0.05;
    plan.waiting = false;
    plan.seed = static_cast<std::uint64_t>(set);
    std::vector<RunEnergy> runs = generate_runs(plan);
    const RunPowerFit fit = fit_run_power(runs);
    ASSERT_TRUE(fit.ok);
    const auto is_within = [](const Estimate& estimate, double truth) {
      return std::abs(estimate.value - truth) <= 2 * estimate.error ? 1 : 0;
    };
    within += is_within(fit.idle_w, idle_w) + is_within(fit.start_j.at(""), start_j);
  }
  // 95.4 % of a normal law; the scatter itself is estimated from some 20 degrees of freedom, which takes it to 94 %.
  // 120 draws: a standard deviation of 2.2 %; four of them below.
  EXPECT_GE(within, 2 * sets * 0.85);
}

// Two runs may be alike by chance: they got all of the weight, and 0.87 of the numbers were within two errors.
TEST(RunPower, KnowsThatTwoRunsHardlyTellTheirScatter) {
  constexpr int sets = 60;
  int within = 0;
  for (int set = 0; set < sets; ++set) {
    core::RandomStream random({static_cast<std::uint64_t>(set), core::stream_generate, 51, 0, 0});
    std::vector<RunEnergy> runs;
    int number = 0;
    for (const RunEnergy& mean : generate_runs({})) {
      RunEnergy run = mean;
      run.runs = 1;
      run.waiting_s = -1;
      run.configuration = std::to_string(++number);
      // Waiting has the watts of computing, so that nothing but the runs scatters.
      const double watts = run.ranks_per_host == 0 ? idle_w : idle_w + awake_w + run.ranks_per_host * core_w;
      const double energy_j = run.hosts * (watts * run.duration_s() + (run.ranks_per_host == 0 ? 0 : start_j));
      for (int repetition = 0; repetition < 2; ++repetition) {
        run.energy_j = energy_j * (1 + 0.04 * random.normal());
        runs.push_back(run);
      }
    }
    const RunPowerFit fit = fit_run_power(runs);
    ASSERT_TRUE(fit.ok);
    const std::pair<Estimate, double> known[] = {
        {fit.idle_w, idle_w}, {fit.core_w, core_w}, {fit.awake_w, awake_w}, {fit.start_j.at(""), start_j}};
    for (const auto& [estimate, truth] : known)
      within += std::abs(estimate.value - truth) <= 2 * estimate.error ? 1 : 0;
  }
  // 230 of 240; 216 with the scatter of each two runs alone.
  EXPECT_GE(within, 4 * sets * 0.93);
}

int within(const Estimate& estimate, double truth) {
  return std::abs(estimate.value - truth) <= 2 * estimate.error ? 1 : 0;
}

// Errors were those of a fit that knows that both are the same: 73 % of the numbers were within two of them.
TEST(RunPower, DoesNotKnowThatWaitingIsComputingWhereRowsDoNotTellThemApart) {
  constexpr int sets = 60;
  int found = 0, alike = 0;
  for (int set = 0; set < sets; ++set) {
    RunPlan plan;
    plan.scatter = 0.03;
    plan.waits_at_w = 2;
    plan.seed = static_cast<std::uint64_t>(set);
    const RunPowerFit fit = fit_run_power(generate_runs(plan));
    ASSERT_TRUE(fit.ok);
    alike += fit.waiting_w.value == fit.core_w.value ? 1 : 0;
    found += within(fit.core_w, core_w) + within(fit.waiting_w, plan.waits_at_w);
  }
  EXPECT_GE(alike, sets / 2);
  EXPECT_GE(found, 2 * sets * 0.9);
}

// Errors of all else were those of a factor that is known.
TEST(RunPower, TheErrorOfTheFactorOfSetupsIsInAllOthers) {
  RunPowerOptions options;
  options.fit_setup = true;
  double fitted_w = 0, known_w = 0;
  for (std::uint64_t set = 0; set < 5; ++set) {
    RunPlan plan;
    plan.scatter = 0.03;
    plan.waiting = false;
    core::RandomStream random({set, core::stream_generate, 52, 0, 0});
    std::vector<RunEnergy> runs;
    for (const double time_s : {1.0, 5.0, 20.0, 60.0})
      for (const int hosts : {1, 2, 4}) runs.push_back(run_of(hosts, 8 / hosts, time_s, time_s / 3, 0, plan, random));
    for (const double time_s : {3.0, 30.0}) runs.push_back(run_of(1, 1, time_s, 0, 0, plan, random));
    for (const double time_s : {25.0, 30.0}) runs.push_back(run_of(1, 0, time_s, 0, 0, plan, random));
    fitted_w += fit_run_power(runs, options).awake_w.error;
    known_w += fit_run_power(runs).awake_w.error;
  }
  EXPECT_GT(fitted_w, 1.1 * known_w);
}

TEST(RunPower, FindsTheFactorOfSetupsThatOtherRunsHad) {
  RunPlan plan;
  plan.setup_factor = 0.78;
  plan.waiting = false;
  RunPowerOptions options;
  options.fit_setup = true;
  std::vector<RunEnergy> runs = generate_runs(plan);
  for (RunEnergy& run : runs) run.waiting_s = -1;
  const RunPowerFit fit = fit_run_power(runs, options);
  ASSERT_TRUE(fit.ok) << fit.reason;
  // Waiting draws less and is not in the rows: 1.4 W of 85, for up to 0.7 of the tenth that is timed.
  EXPECT_NEAR(fit.setup_factor.value, 0.78, 0.02);
}

TEST(RunPower, TakesWaitingForComputingWhereRowsDoNotTellThemApart) {
  RunPlan plan;
  plan.waiting = false;
  const RunPowerFit fit = fit_run_power(generate_runs(plan));
  EXPECT_EQ(fit.waiting_w.value, fit.core_w.value);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "waiting_as_computing")));
}

TEST(RunPower, SaysThatIdleIsUnknownWithoutIdleHosts) {
  RunPlan plan;
  plan.idle_hosts = false;
  const RunPowerFit fit = fit_run_power(generate_runs(plan));
  EXPECT_NEAR(fit.idle_w.value, idle_w + awake_w, 1e-6);
  EXPECT_EQ(fit.awake_w.value, 0);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "idle_unknown")));
}

TEST(RunPower, SaysThatAwakeIsUnknownWithOneCountOfRanks) {
  RunPlan plan;
  plan.several_counts = false;
  plan.waiting = false;
  const RunPowerFit fit = fit_run_power(generate_runs(plan));
  EXPECT_NEAR(fit.idle_w.value, idle_w, 1e-6);
  EXPECT_EQ(fit.awake_w.value, 0);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "awake_unknown")));
}

TEST(RunPower, GivesRepeatedRunsTheWeightOfTheirScatter) {
  std::vector<RunEnergy> runs = generate_runs({});
  RunEnergy wild = runs.front();  // ten runs of one configuration, whose mean is 20 % too high
  for (int i = 0; i < 10; ++i) {
    wild.configuration = "wild";
    wild.energy_j = runs.front().energy_j * (i < 8 ? 0.4 : 4.4);
    wild.runs = 1;
    runs.push_back(wild);
  }
  const RunPowerFit fit = fit_run_power(runs);
  EXPECT_EQ(fit.runs.size(), generate_runs({}).size() + 1);
  EXPECT_NEAR(fit.start_j.at("").value, start_j, 0.1);
}

/// Two repetitions of a configuration among others, as they are merged.
RunEnergy merged(RunEnergy a, RunEnergy b) {
  std::vector<RunEnergy> runs = generate_runs({});
  a.configuration = b.configuration = "twice";
  runs.insert(runs.end(), {a, b});
  for (const FittedRun& one : fit_run_power(runs).runs)
    if (one.run.configuration == "twice") return one.run;
  ADD_FAILURE() << "left out";
  return {};
}

TEST(RunPower, TakesWaitingOfWhichARepetitionDoesNotTellAsNotKnown) {
  RunEnergy run = generate_runs({})[20], silent = run;
  silent.waiting_s = -1;
  EXPECT_EQ(merged(run, silent).waiting_s, -1);
  EXPECT_EQ(merged(silent, run).waiting_s, -1);
  EXPECT_EQ(merged(run, run).waiting_s, run.waiting_s);
}

TEST(RunPower, PoolsTheScatterOfMeans) {
  RunEnergy run = generate_runs({})[20], other = run;
  const double energy_j = run.energy_j, sd_j = 0.02 * energy_j, apart_j = 0.01 * energy_j;
  other.energy_j += apart_j;
  run.energy_sd_j = other.energy_sd_j = sd_j;
  // Squares within both, of nine degrees of freedom each, and of each mean around that of all.
  const double squares = 2 * 9 * sd_j * sd_j + 2 * 10 * apart_j * apart_j / 4;
  EXPECT_NEAR(merged(run, other).energy_sd_j, std::sqrt(squares / 19), 1e-9 * sd_j);
  EXPECT_EQ(merged(run, other).runs, 20);
  // Without them a mean of ten runs is as far off as one run divided by sqrt(10).
  run.energy_sd_j = other.energy_sd_j = 0;
  EXPECT_NEAR(merged(run, other).energy_sd_j, apart_j / std::sqrt(2.0) * std::sqrt(10.0), 1e-9 * sd_j);
  run.runs = other.runs = 1;
  EXPECT_NEAR(merged(run, other).energy_sd_j, apart_j / std::sqrt(2.0), 1e-9 * sd_j);
}

TEST(RunPower, OfAsManyRowsAsNumbersKnowsNoScatter) {
  RunEnergy idle, run;
  idle.time_s = 100, idle.energy_j = 2500;
  run.time_s = 60, run.ranks_per_host = 8, run.energy_j = 60 * (25 + 8 * 7.5);
  const RunPowerFit fit = fit_run_power({idle, run});
  ASSERT_TRUE(fit.ok) << fit.reason;
  EXPECT_NEAR(fit.idle_w.value, 25, 1e-9);
  EXPECT_NEAR(fit.core_w.value, 7.5, 1e-9);
  EXPECT_EQ(fit.scatter, 0);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "too_few_runs")));
  EXPECT_THAT(fit.flags, Not(Contains(Field(&core::QualityFlag::flag, "poor_fit"))));
}

TEST(RunPower, AddsTheRangeOfACounterThatAMeanLacks) {
  std::vector<RunEnergy> runs = generate_runs({});
  RunEnergy& one = runs[20];  // 60 s on two hosts, 9 kJ
  one.wrap_j = 65532.61;
  one.energy_j -= one.wrap_j / one.runs;  // one run of ten has wrapped
  const RunPowerFit fit = fit_run_power(runs);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "wrapped")));
  EXPECT_NEAR(fit.core_w.value, core_w, 1e-6);
}

TEST(RunPower, LeavesOutARowThatNoOtherAgreesWith) {
  std::vector<RunEnergy> runs = generate_runs({});
  runs[20].energy_j *= 3;
  const RunPowerFit fit = fit_run_power(runs);
  ASSERT_EQ(fit.outliers.size(), 1U);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "outliers")));
  EXPECT_NEAR(fit.core_w.value, core_w, 1e-6);
}

TEST(RunPower, LeavesOutRunsShorterThanASample) {
  std::vector<RunEnergy> runs = generate_runs({});
  for (RunEnergy& run : runs) run.sample_s = 1;
  const RunPowerFit fit = fit_run_power(runs);
  EXPECT_THAT(fit.flags, Contains(Field(&core::QualityFlag::flag, "too_short")));
  EXPECT_NEAR(fit.start_j.at("").value, start_j, 1e-6);
  for (RunEnergy& run : runs) run.sample_s = 1000;
  EXPECT_FALSE(fit_run_power(runs).ok);
  EXPECT_THAT(fit_run_power(runs).reason, ::testing::HasSubstr("shorter than a sample of the meter"));
}

}  // namespace
}  // namespace hplcast::fit
