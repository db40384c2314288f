// What detours do to ranks: the runtime against core's after(), and against closed forms of series of barriers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/detours.hpp"
#include "tests/smpi-models/simulation.hpp"
#include "tests/support/barrier_slowdown.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::smpi_models {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using tests::example_cluster;
using tests::numbers;
using tests::PlatformKind;
using tests::simulate;
using tests::Simulation;

Simulation simulation_of(int ranks, std::vector<std::string> arguments, std::vector<core::DetourSource> detours) {
  Simulation simulation{example_cluster(true), ranks, std::move(arguments), PlatformKind::library};
  simulation.program = HPLCAST_DETOURS_PROBE;
  simulation.cluster.detours = std::move(detours);
  return simulation;
}

core::DetourSource agent(double period_s, double duration_s, std::optional<double> phase_s = {}) {
  return core::DetourSource::make(
      {"agent", core::PeriodicDetours{0, phase_s}, period_s, core::ConstantDuration{duration_s}});
}

// --- one rank
// -------------------------------------------------------------------------------------------------------------

TEST(Detours, StretchWorkAsTheClockOfTheirCoreSays) {
  const std::vector<core::DetourSource> sources = {
      agent(0.01, 1e-4),
      core::DetourSource::make({"daemon", core::PoissonDetours(), 0.02, core::ExponentialDuration{1e-3}}),
      core::DetourSource::make({"pinned",
                                core::PoissonDetours(),
                                0.02,
                                core::ExponentialDuration{1e-3},
                                core::DetoursPer::core,
                                false,
                                {1}})};
  const std::vector<std::string> pieces = {"0.5", "1e-5", "20.25", "0.003"};
  std::vector<std::string> arguments = {"work"};
  arguments.insert(arguments.end(), pieces.begin(), pieces.end());
  const core::CommandResult result = simulate(simulation_of(8, arguments, sources), "detours_work");
  ASSERT_EQ(result.status, 0) << result.output;
  const int cores = example_cluster(true).hosts.values().cores;
  for (int rank = 0; rank < 8; ++rank) {
    const core::DetourPlace place{1, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(rank / cores), 0,
                                  rank % cores};
    core::DetourClock clock(sources, place);
    const std::vector<double> ends_s = numbers(result.output, rank, "end");
    ASSERT_THAT(ends_s, SizeIs(pieces.size()));
    double end_s = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      end_s = clock.after(end_s, std::stod(pieces[i]));
      EXPECT_NEAR(ends_s[i], end_s, 1e-12) << rank;  // what SimGrid resolves
    }
  }
}

TEST(Detours, TakeTheirShareOfARankThatOnlyWorks) {
  // Over whole periods: 1 / (1 - d / T), whatever the phase.
  constexpr double period_s = 0.1, duration_s = 0.0025, periods = 40;
  const std::string work = core::shortest(periods * (period_s - duration_s));
  const core::CommandResult result =
      simulate(simulation_of(4, {"work", work}, {agent(period_s, duration_s)}), "detours_share");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(numbers(result.output, rank, "end").at(0), periods * period_s, 1e-9 * periods * period_s);
  }
}

TEST(Detours, CanBeSwitchedOff) {
  Simulation simulation = simulation_of(2, {"work", "3"}, {agent(0.1, 0.01)});
  simulation.settings.detours = false;
  EXPECT_EQ(numbers(simulate(simulation, "detours_off").output, 1, "end").at(0), 3);
}

// --- messages
// -------------------------------------------------------------------------------------------------------------

/// When the sender goes on and when the receiver, if the message is sent at `time_s`.
std::pair<double, double> ends_of_message(const std::string& bytes, const std::string& time_s, bool detours) {
  Simulation simulation = simulation_of(2, {"message", bytes, time_s}, {agent(1, 0.125, 0.5)});
  simulation.settings.detours = detours;
  const core::CommandResult result = simulate(simulation, "detours_message");
  EXPECT_EQ(result.status, 0) << result.output;
  return {numbers(result.output, 0, "sent").at(0), numbers(result.output, 1, "received").at(0)};
}

TEST(Detours, OfAWaitingRankTakeNothing) {
  // The receiver waits from 0 on, through the detour from 0.5 to 0.625; the sender works through it.
  const auto [sent_s, received_s] = ends_of_message("100", "0.75", true);
  const auto [clean_sent_s, clean_received_s] = ends_of_message("100", "0.75", false);
  EXPECT_NEAR(sent_s, clean_sent_s + 0.125, 1e-12);
  EXPECT_NEAR(received_s, clean_received_s + 0.125, 1e-12);
}

TEST(Detours, ThatRunWhenAMessageArrivesDelayWhoeverWaitedForIt) {
  for (const char* bytes : {"100", "10000000"}) {  // that waits for its receiver, and so does its sender
    const auto [clean_sent_s, clean_received_s] = ends_of_message(bytes, "0.25", false);
    // Sent a little before the detour begins, it arrives in it.
    const double transfer_s = clean_received_s - 0.25;
    const std::string late = core::shortest(0.5 - transfer_s / 4);
    const auto [sent_s, received_s] = ends_of_message(bytes, late, true);
    const bool waits = clean_sent_s - 0.25 > transfer_s / 2;
    EXPECT_EQ(waits, std::string(bytes) == "10000000");
    if (waits) {
      EXPECT_NEAR(sent_s, 0.625, 1e-12);
    } else {
      EXPECT_LT(sent_s, 0.5);
    }
    EXPECT_GE(received_s, 0.625);
    EXPECT_LE(received_s, 0.625 + transfer_s);
  }
}

// --- series of barriers
// -------------------------------------------------------------------------------------------------------------

struct Series {
  int ranks, barriers;
  double work_s, period_s, duration_s;
};

/// Slow-down and its standard error, from the times of 20 parts of the series.
std::pair<double, double> slowdown_of(const Series& series, core::DetourSource source, int seed = 1) {
  constexpr int chunks = 20;
  const int chunk = series.barriers / chunks;
  Simulation simulation = simulation_of(
      series.ranks, {"barriers", std::to_string(chunk * chunks), std::to_string(chunk), core::shortest(series.work_s)},
      {std::move(source)});
  simulation.cluster.hosts = core::Hosts::make({"node-[1-1]", series.ranks, 1, {}, 0});
  simulation.cluster.kernels.clear();
  simulation.settings.seed = static_cast<std::uint64_t>(seed);
  const core::CommandResult result = simulate(simulation, "detours_barriers");
  EXPECT_EQ(result.status, 0) << result.output;
  std::vector<double> ends_s = numbers(result.output, 0, "chunk");
  EXPECT_THAT(ends_s, SizeIs(chunks));
  ends_s.resize(chunks);
  const double clean_s = chunk * series.work_s;
  const double mean = ends_s.back() / chunks / clean_s;
  double squares = 0, begin_s = 0;
  for (const double end_s : ends_s) {
    squares += std::pow((end_s - begin_s) / clean_s - mean, 2);
    begin_s = end_s;
  }
  return {mean, std::sqrt(squares / (chunks - 1) / chunks)};
}

void expect_closed_form(const Series& series) {
  const core::DetourSource source = core::DetourSource::make(
      {"d", core::PoissonDetours(), series.period_s, core::ConstantDuration{series.duration_s}});
  const auto [slowdown, error] = slowdown_of(series, source);
  const double expected =
      tests::barrier_slowdown({static_cast<double>(series.ranks), series.work_s}, {series.period_s, series.duration_s});
  // The form is within 0.2 % of Poisson detours of these shares. Where the loss itself is less, or little more, than
  // that, the error of the series decides: a loss that is off by a third fails.
  EXPECT_NEAR(slowdown, expected, std::min(0.005 * expected, 2 * error + 0.02 * (expected - 1))) << series.ranks;
  EXPECT_LT(2 * error, (expected - 1) / 3) << series.ranks;
}

TEST(Detours, OfRanksThatWaitForEachOtherCostWhatTheClosedFormSays) {
  // The form takes a rank to be hit at most once per step: g <= T / 100 keeps what that leaves out below 0.5 % of the
  // loss.
  for (const Series& series : {Series{2, 40000, 0.01, 1, 1e-3}, Series{8, 20000, 0.01, 1, 1e-3},
                               Series{32, 20000, 5e-3, 1, 1e-3}, Series{128, 20000, 2e-3, 1, 1e-3}}) {
    expect_closed_form(series);
  }
}

TEST(Detours, AtTheSameInstantCostNoMoreThanTheirShare) {
  constexpr double period_s = 0.1, duration_s = 0.0025;
  const Series series{16, 4000, 9.75e-4, period_s, duration_s};  // 40 periods
  const auto synchronous = core::DetourSource::make(
      {"d", core::PeriodicDetours(), period_s, core::ConstantDuration{duration_s}, core::DetoursPer::cluster});
  EXPECT_NEAR(slowdown_of(series, synchronous).first, 1 / (1 - duration_s / period_s), 1e-9);
  EXPECT_GT(slowdown_of(series, agent(period_s, duration_s)).first, 1.2);  // 1.5 on average, sd 0.07 (facts: 1.45)
}

/// Means over seeds, and their standard errors.
std::pair<double, double> mean_slowdown(const Series& series, int seeds) {
  double sum = 0, squares = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const double one = slowdown_of(series, agent(series.period_s, series.duration_s), seed).first;
    sum += one;
    squares += one * one;
  }
  return {sum / seeds, std::sqrt((squares - sum * sum / seeds) / (seeds - 1) / seeds)};
}

TEST(Detours, OfRegularAgentsCostWhatAnotherProgramFound) {
  // A Monte-Carlo computation of series of barriers with a program of its own (2026), with its standard errors: agents
  // with random phases, means over draws of the phases.
  struct Found {
    Series series;
    double mean, error;
  };
  for (const auto& [series, mean, error] :
       {Found{{2, 2000, 1e-3, 0.1, 2.5e-3}, 1.0517, 0.0003}, Found{{8, 2000, 1e-3, 0.1, 2.5e-3}, 1.2161, 0.0019},
        Found{{4, 4000, 1e-4, 1e-3, 2.5e-5}, 1.0970, 0.0013}, Found{{16, 4000, 1e-4, 1e-3, 2.5e-5}, 1.2205, 0.0021}}) {
    const auto [slowdown, own_error] = mean_slowdown(series, 8);
    EXPECT_NEAR(slowdown, mean, 3 * std::hypot(error, own_error)) << series.ranks;
    EXPECT_LT(3 * own_error, (mean - 1) / 4) << series.ranks;
  }
}

// --- many ranks (slow)
// -------------------------------------------------------------------------------------------------------------

TEST(ManyRanksWithDetours, ThatWaitForEachOtherLoseWhatTheClosedFormSays) {
  for (const Series& series :
       {Series{512, 20000, 1e-3, 1, 1e-3}, Series{1024, 10000, 1e-3, 1, 1e-3}, Series{4096, 4000, 1e-3, 1, 5e-4}}) {
    expect_closed_form(series);
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
