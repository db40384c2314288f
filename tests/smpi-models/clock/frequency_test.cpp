// Frequencies that change while a run goes on: durations and joules in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/power_model.hpp"
#include "tests/smpi-models/simulation.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::smpi_models {
namespace {

using core::FrequencySchedule;
using core::PowerController;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using tests::numbers;

constexpr double share = 0.8;  // of the time of dgemm that goes with the clock
constexpr double waiting_w = 3;

double idle_w(double ghz) {
  return 50 + 5 * ghz;
}
double awake_w(double ghz) {
  return 4 + 3 * ghz;
}
double core_w(double ghz) {
  return 2 + ghz * ghz;
}
/// Two hosts of four cores; all ranks in dgemm, or all waiting.
double host_w(double ghz, int busy = 4, int waiting = 0) {
  return (idle_w(ghz) + awake_w(ghz) + busy * core_w(ghz) + waiting * waiting_w) / 0.9;
}
/// Seconds of dgemm at this frequency for each second at 2 GHz.
double slower(double ghz) {
  return share * 2 / ghz + 1 - share;
}

/// A call of dgemm takes as many seconds as its m says at 2 GHz.
tests::Simulation changing(int ranks, std::vector<std::string> arguments, std::vector<FrequencySchedule> schedules,
                           std::vector<PowerController> controllers = {}) {
  tests::Simulation simulation{tests::example_cluster(true), ranks, std::move(arguments), tests::PlatformKind::library};
  simulation.program = HPLCAST_DETOURS_PROBE;
  const auto mnk = core::Polynomial::make({{1, 1, 1}}, {1});
  simulation.cluster.kernels = {{"dgemm", core::KernelModel::make("M1", core::PiecewiseLaw(core::DurationLaw::make(
                                                                            mnk, {}, core::NoiseFamily::none)))}};
  core::PowerModel::Values power;
  power.idle = core::Watts::polynomial({50, 5});
  power.awake = core::Watts::polynomial({4, 3});
  power.states = {{"default", core::Watts::polynomial({2, 0, 1})}, {"blocked", waiting_w}, {"messages", waiting_w}};
  power.frequency = core::FrequencyModel{2e9, {2e9, 1.6e9, 1.2e9, 1e9}, {}, {}, {{"default", share}}};
  power.frequency->schedules = std::move(schedules);
  power.frequency->controllers = std::move(controllers);
  power.supply_efficiency = 0.9;
  simulation.cluster.power = core::PowerModel::make(power);
  simulation.settings.energy = core::EnergySettings{1, true};
  return simulation;
}

FrequencySchedule schedule(std::vector<double> at_s, std::vector<double> ghz) {
  FrequencySchedule one;
  one.at_s = std::move(at_s);
  for (const double f : ghz) one.hz.push_back(f * 1e9);
  return one;
}

struct Outcome {
  core::CommandResult command;
  core::SimulationResult result;
  double end_s(int rank = 0) const { return numbers(command.output, rank, "end").back(); }
  double energy_j() const { return result.energy->energy.energy_j; }
};

Outcome simulated(const tests::Simulation& simulation, const std::string& name) {
  Outcome outcome{tests::simulate(simulation, name), {}};
  EXPECT_EQ(outcome.command.status, 0) << outcome.command.output;
  std::ifstream in(tests::simulation_folder(name) / "stats.json");
  outcome.result = core::read_simulation_result(in, name);
  return outcome;
}

// Sums of tens of durations of up to 100 s.
constexpr double off_s = 1e-11, off_j = 1e-8;

TEST(Frequency, OfAKernelThatSpansAChangeIsThatOfEachPartOfIt) {
  // 3 of 10 s of work are done at 2 GHz, the 3 s until 6.0 at 1 GHz, the rest at 1.6 GHz.
  const Outcome changed = simulated(changing(1, {"kernels", "10"}, {schedule({3, 6}, {1, 1.6})}), "frequency_spans");
  const double rest_s = (7 - 3 / slower(1)) * slower(1.6);
  EXPECT_NEAR(changed.end_s(), 6 + rest_s, off_s);
  EXPECT_NEAR(changed.energy_j(), 3 * host_w(2, 1) + 3 * host_w(1, 1) + rest_s * host_w(1.6, 1), off_j);
  const core::PowerTrace& trace = changed.result.energy->trace;
  EXPECT_NEAR(trace.bins_j.at(2), host_w(2, 1), off_j);
  EXPECT_NEAR(trace.bins_j.at(3), host_w(1, 1), off_j);
  EXPECT_NEAR(trace.bins_j.at(6), host_w(1.6, 1), off_j);
  EXPECT_NEAR(changed.result.kernels.at("dgemm").time_s, changed.end_s(), off_s) << "statistics have the time it took";
}

TEST(Frequency, ThatIsTheSameAtAllInstantsChangesNothing) {
  const std::vector<std::string> calls = {"kernels", "0.1", "0.7", "1.3"};
  const Outcome still = simulated(changing(2, calls, {}), "frequency_still");
  const Outcome same = simulated(changing(2, calls, {schedule({0.5, 1.25}, {2, 2})}), "frequency_same");
  EXPECT_NEAR(same.end_s(1), still.end_s(1), 1e-15);
  EXPECT_NEAR(same.energy_j(), still.energy_j(), 1e-12);
}

TEST(Frequency, WithADutyHasTheMeanSpeedOfItsPeriods) {
  FrequencySchedule duty = schedule({0, 0.03}, {2, 1});  // 30 % at 2 GHz
  duty.period_s = 0.1;
  const Outcome run_of_duty = simulated(changing(1, {"kernels", "5", "15"}, {duty}), "frequency_duty");
  const double done_per_period = 0.03 + 0.07 / slower(1);
  const double periods = std::floor(20 / done_per_period), left = 20 - periods * done_per_period;
  EXPECT_NEAR(run_of_duty.end_s(), periods * 0.1 + (left <= 0.03 ? left : 0.03 + (left - 0.03) * slower(1)), 1e-9)
      << "some 300 dates of up to 32 s";
}

TEST(Frequency, OfSomeHostsThrottlesTheseOnly) {
  FrequencySchedule hot = schedule({4}, {1});
  hot.hosts = "n-2";
  const Outcome throttled = simulated(changing(8, {"kernels", "10"}, {hot}), "frequency_throttled");
  const double late_s = 4 + 6 * slower(1);
  for (int rank = 0; rank < 8; ++rank) EXPECT_NEAR(throttled.end_s(rank), rank < 4 ? 10 : late_s, off_s);
  EXPECT_NEAR(throttled.energy_j(),
              10 * host_w(2) + (late_s - 10) * host_w(2, 0, 4) + 4 * host_w(2) + (late_s - 4) * host_w(1), off_j);
  // The lower one of two; CPU 1 has the local ranks 1 and 2.
  FrequencySchedule all = schedule({2}, {1.6}), one = schedule({4}, {1.2});
  one.hosts = "n-1";
  one.cpu = 1;
  const Outcome both = simulated(changing(4, {"kernels", "10"}, {one, all}), "frequency_both");
  EXPECT_NEAR(both.end_s(0), 2 + 8 * slower(1.6), off_s);
  EXPECT_NEAR(both.end_s(1), 4 + (8 - 2 / slower(1.6)) * slower(1.2), off_s);
}

TEST(Frequency, AndDetoursStretchTheSameWork) {
  // From 1 s on half of the time is detours, from 3 s on it is at 1 GHz, too: 2 s, and 4 s of those that are free.
  tests::Simulation simulation = changing(1, {"kernels", "2", "2"}, {schedule({3}, {1})});
  simulation.cluster.detours = {
      core::DetourSource::make({"agent", core::PeriodicDetours{0, 0.5}, 1, core::ConstantDuration{0.5}})};
  const Outcome slow = simulated(simulation, "frequency_detours");
  // Free: 0 to 0.5, 1 to 1.5, 2 to 2.5 at 2 GHz, then halves of seconds from 3 on.
  const double left_s = (4 - 1.5) * slower(1), whole = std::floor(left_s / 0.5);
  EXPECT_NEAR(slow.end_s(), 3 + whole + (left_s - 0.5 * whole), off_s);
}

PowerController controller(double cap_w, double period_s) {
  PowerController one;
  one.cap_w = cap_w;
  one.period_s = period_s;
  one.hosts_per_group = 1;
  return one;
}

TEST(PowerControl, SettlesWhereTheStaticCapIs) {
  // Each host by itself: 2 GHz in the first second, 1.6 in the second, 1.2 from then on, where it stays.
  const double cap_w = (host_w(1.2) + host_w(1.6)) / 2;
  const Outcome kept = simulated(changing(8, {"kernels", "10", "10"}, {}, {controller(cap_w, 1)}), "control_settles");
  const double rest_s = (20 - 1 - 1 / slower(1.6)) * slower(1.2);
  for (const int rank : {0, 5}) EXPECT_NEAR(kept.end_s(rank), 2 + rest_s, off_s);
  EXPECT_NEAR(kept.energy_j(), 2 * (host_w(2) + host_w(1.6) + rest_s * host_w(1.2)), off_j);
  // One group of both has twice the power: the same with twice the cap.
  PowerController both = controller(2 * cap_w, 1);
  both.hosts_per_group.reset();
  EXPECT_NEAR(simulated(changing(8, {"kernels", "10", "10"}, {}, {both}), "control_group").end_s(3), 2 + rest_s, off_s);
}

TEST(PowerControl, GoesUpAgainWhenPowerAllowsIt) {
  // From 3 s to 6 s the site allows 1 GHz: the controller takes its own limit back, and finds out again.
  const double cap_w = (host_w(1.2) + host_w(1.6)) / 2;
  const Outcome kept =
      simulated(changing(4, {"kernels", "20"}, {schedule({3, 6}, {1, 2})}, {controller(cap_w, 1)}), "control_up");
  const double done = 2 * (1 + 1 / slower(1.6)) + 1 / slower(1.2) + 3 / slower(1);
  const double rest_s = (20 - done) * slower(1.2);
  EXPECT_NEAR(kept.end_s(), 8 + rest_s, off_s);
  EXPECT_NEAR(kept.energy_j(), 2 * (host_w(2) + host_w(1.6)) + (1 + rest_s) * host_w(1.2) + 3 * host_w(1), off_j);
}

TEST(PowerControl, CountsRanksThatWaitAsWaiting) {
  // One busy rank at a time stays below what two would draw.
  tests::Simulation simulation = changing(2, {"turns", "3", "4"}, {}, {controller(host_w(2, 1, 1) + 0.1, 1)});
  EXPECT_NEAR(simulated(simulation, "control_turns").end_s(), 24, 1e-3) << "24 s of work, and six messages";
  // Just below that it goes one step down: with both busy at 2 GHz it would be above.
  simulation.cluster.power = changing(2, {}, {}, {controller(host_w(2, 1, 1) - 0.1, 1)}).cluster.power;
  const Outcome capped = simulated(simulation, "control_turns_capped");
  EXPECT_NEAR(capped.end_s(), 1 + 23 * slower(1.6), 1e-3);
  EXPECT_EQ(simulated(simulation, "control_turns_again").end_s(), capped.end_s());
}

TEST(PowerControl, AboveTheHighestPowerOrWithoutEnergyAskedForChangesNoTime) {
  tests::Simulation simulation = changing(4, {"kernels", "3.5"}, {}, {controller(2 * host_w(2), 0.3)});
  EXPECT_NEAR(simulated(simulation, "control_idle").end_s(), 3.5, off_s);
  simulation = changing(4, {"kernels", "3.5"}, {}, {controller(host_w(1), 0.3)});
  const double counted_s = simulated(simulation, "control_counted").end_s();
  simulation.settings.energy.reset();
  const Outcome not_counted = simulated(simulation, "control_not_counted");
  EXPECT_EQ(not_counted.end_s(), counted_s);
  EXPECT_FALSE(not_counted.result.energy);
}

TEST(Frequency, ThatChangesIsRefusedWhereItIsNotKnownWhenWorkIsDone) {
  tests::Simulation simulation = changing(1, {"kernels", "1"}, {schedule({3}, {1})});
  simulation.settings.fast = true;
  const core::CommandResult result = tests::simulate(simulation, "frequency_fast");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("none with load, window or fast"));
}

}  // namespace
}  // namespace hplcast::smpi_models
