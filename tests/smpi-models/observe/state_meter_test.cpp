#include "smpi-models/observe/energy_meters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::smpi_models {
namespace {

using core::CoreState;
using ::testing::ElementsAre;

constexpr CoreState dgemm = core::state_of(core::KernelId::dgemm), dger = core::state_of(core::KernelId::dger);

/// Two hosts of two cores: idle 100 W, awake 20 W, a core 10 W in kernels, `waiting_w` in the rest.
core::ClusterModel cluster_of(double waiting_w, double efficiency = 1, double network_w = 0) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"n-[1-2]", 2, 1, {}, 0});
  core::PowerModel::Values power;
  power.idle = 100;
  power.awake = 20;
  power.states = {{"default", 10}, {"polling", waiting_w}, {"blocked", waiting_w}, {"messages", waiting_w}};
  power.supply_efficiency = efficiency;
  power.network_w = network_w;
  cluster.power = core::PowerModel::make(power);
  return cluster;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double seconds(const core::SimulatedEnergy& totals, CoreState state) {
  for (const core::StateEnergy& one : totals.energy.states)
    if (one.name == core::to_string(state)) return one.time_s;
  return 0;
}

TEST(PowerBins, AddUpToWhatWasAdded) {
  PowerBins bins(0.25);
  bins.add(0.125, 1.125, 8);
  bins.add(0.5, 0.75, 4);
  bins.end(1.125);
  EXPECT_THAT(bins.joules(), ElementsAre(1, 2, 3, 2, 1));
}

TEST(PowerBins, WithoutAnythingInThemAreThere) {
  PowerBins bins(1);
  bins.end(3.5);
  EXPECT_THAT(bins.joules(), ElementsAre(0, 0, 0, 0));
}

TEST(PowerBins, EndExactlyAtTheBorderOfABin) {
  PowerBins bins(0.1);
  bins.add(0, 0.3, 10);
  bins.end(0.3);
  ASSERT_EQ(bins.joules().size(), 3U) << "0.3 / 0.1 is a little less than 3";
  EXPECT_NEAR(sum(bins.joules()), 3, 1e-15);
}

TEST(PowerBins, RefuseToBeMoreThanMemoryHolds) {
  PowerBins bins(1e-9);
  bins.add(0, 1, 1);
  EXPECT_THROW(bins.end(1), core::DomainError);
  bins.add(1e30, 1e31, 1);
  EXPECT_THROW(bins.end(1e31), core::DomainError) << "beyond what a size holds";
}

TEST(ActiveTime, IsTheUnionOfIntervalsInAnyOrder) {
  ActiveTime active;
  active.add(5, 6);
  active.add(1, 2);
  active.add(1.5, 3);
  active.add(3, 4);
  active.add(5.5, 5.7);
  active.add(8, 8);
  EXPECT_EQ(active.parts(), 2U);
  std::vector<double> taken;
  const auto take = [&](double begin_s, double end_s) { taken.insert(taken.end(), {begin_s, end_s}); };
  active.take_until(5.5, take);
  EXPECT_THAT(taken, ElementsAre(1, 4, 5, 5.5));
  active.take_until(100, take);
  EXPECT_THAT(taken, ElementsAre(1, 4, 5, 5.5, 5.5, 6));
}

TEST(EnergyAccount, IsTheSumOverTheStatesOfTheCores) {
  const core::ClusterModel cluster = cluster_of(5, 0.8, 50);
  EnergyAccount account(cluster, {0.5, false});
  StateMeter& rank = account.add_rank(0, 0);
  rank.until(dgemm, 3);  // before the timed part
  account.begin(rank, 3);
  rank.until(dgemm, 5);
  rank.until(CoreState::blocked, 6);
  rank.end(CoreState::messages, 6.25);
  rank.until(dgemm, 9);  // after it
  const core::SimulatedEnergy totals = account.end();
  EXPECT_EQ(totals.trace.time_s, 3.25);
  EXPECT_EQ(seconds(totals, dgemm), 2);
  EXPECT_EQ(seconds(totals, CoreState::blocked), 1);
  EXPECT_EQ(seconds(totals, CoreState::messages), 0.25);
  EXPECT_DOUBLE_EQ(totals.energy.idle_j, 325 / 0.8) << "one host is used";
  EXPECT_DOUBLE_EQ(totals.energy.awake_j, 65 / 0.8);
  EXPECT_DOUBLE_EQ(totals.energy.network_j, 25 * 3.25) << "its share of the network, not through the supply";
  EXPECT_DOUBLE_EQ(totals.energy.energy_j, (325 + 65 + 20 + 5 + 1.25) / 0.8 + 25 * 3.25);
  EXPECT_DOUBLE_EQ(sum(totals.trace.bins_j), totals.energy.energy_j);
  EXPECT_EQ(totals.trace.bins_j.size(), 7U);
  EXPECT_DOUBLE_EQ(totals.trace.bins_j[0], 65 / 0.8 + 12.5);
  EXPECT_DOUBLE_EQ(totals.trace.bins_j[6], (100 + 20 + 5) * 0.25 / 0.8 + 25 * 0.25);
}

TEST(EnergyAccount, WhoEndsFirstWaitsForTheLast) {
  const core::ClusterModel cluster = cluster_of(5);
  EnergyAccount account(cluster, {0, false});
  StateMeter& quick = account.add_rank(0, 0);
  StateMeter& slow = account.add_rank(0, 0);
  account.begin(quick, 0);
  account.begin(slow, 0.5);  // each rank counts from its own begin, as HPL does
  quick.end(dgemm, 1);
  slow.end(dgemm, 2.5);
  const core::SimulatedEnergy totals = account.end();
  EXPECT_EQ(totals.trace.time_s, 2);
  EXPECT_EQ(seconds(totals, CoreState::blocked), 1);
  EXPECT_EQ(quick.total_s(), 2);
  EXPECT_EQ(slow.total_s(), 2);
  EXPECT_EQ(totals.energy.energy_j, 2 * 120 + 3 * 10 + 1 * 5);
}

// Ranks begin one after the other: the last end is later than the time of the run after the first begin.
TEST(EnergyAccount, HasAllThatWasToldBehindTheLastLookOfAController) {
  core::ClusterModel cluster = cluster_of(5);
  core::PowerModel::Values power = cluster.power->values();
  power.frequency = core::FrequencyModel{1e9, {1e9}, {}, {}, {}};
  power.frequency->controllers = {core::PowerController{"", {}, 500, 1, {}}};
  cluster.power = core::PowerModel::make(power);
  EnergyAccount account(cluster, {0, false});
  StateMeter& quick = account.add_rank(0, 0);
  StateMeter& slow = account.add_rank(0, 0);
  account.begin(quick, 0);
  account.begin(slow, 0.5);
  quick.end(dgemm, 1);
  slow.end(dgemm, 2.25);  // the controller looks at 1 and 2 s, the run took 1.75 s
  const core::SimulatedEnergy totals = account.end();
  EXPECT_EQ(quick.total_s(), 1.75);
  EXPECT_EQ(slow.total_s(), 1.75);
  EXPECT_EQ(totals.energy.energy_j, 1.75 * 120 + 2.75 * 10 + 0.75 * 5);
}

TEST(EnergyAccount, AHostWhoseCoresAllWaitForNothingIsIdle) {
  const core::ClusterModel cluster = cluster_of(0);
  EnergyAccount account(cluster, {0.25, true});
  StateMeter& a = account.add_rank(0, 0);
  StateMeter& b = account.add_rank(0, 0);
  StateMeter& c = account.add_rank(1, 0);
  for (StateMeter* rank : {&a, &b, &c}) account.begin(*rank, 0);
  a.until(dgemm, 1);
  a.until(CoreState::polling, 4);
  a.end(dgemm, 5);
  b.until(CoreState::blocked, 0.5);  // its own time is behind that of the other
  b.until(dgemm, 2);
  b.end(CoreState::blocked, 5);
  c.end(CoreState::blocked, 5);
  const core::SimulatedEnergy totals = account.end();
  EXPECT_DOUBLE_EQ(totals.energy.awake_share, (2 + 1) / 10.0) << "0 to 2 and 4 to 5 of one of two hosts";
  EXPECT_DOUBLE_EQ(totals.energy.awake_j, 3 * 20);
  EXPECT_DOUBLE_EQ(totals.energy.energy_j, 2 * 5 * 100 + 60 + (2 + 1.5) * 10);
  ASSERT_EQ(totals.trace.hosts.size(), 2U);
  EXPECT_DOUBLE_EQ(sum(totals.trace.hosts[1].bins_j), 500) << "it was idle";
  EXPECT_NEAR(sum(totals.trace.bins_j), totals.energy.energy_j, 1e-12 * totals.energy.energy_j);
}

TEST(EnergyAccount, TheAwakeTimeOfManyRanksDoesNotDependOnTheOrderInWhichTheyTell) {
  constexpr int ranks = 4, steps = 3000;  // more than the account holds back
  core::ClusterModel cluster = cluster_of(0);
  cluster.hosts = core::Hosts::make({"n", 4, 1, {}, 0});
  core::RandomStream random({1, 2, 3, 4, 5});
  std::vector<std::vector<double>> dates(ranks, {0});
  for (auto& of_rank : dates)
    for (int i = 0; i < steps; ++i) of_rank.push_back(of_rank.back() + random.uniform());
  const auto state = [](int step) { return step % 4 == 0 ? dgemm : CoreState::polling; };
  const auto awake_s = [&](bool together) {
    EnergyAccount account(cluster, {0, false});
    std::vector<StateMeter*> meters;
    for (int i = 0; i < ranks; ++i) meters.push_back(&account.add_rank(0, 0));
    for (StateMeter* meter : meters) account.begin(*meter, 0);
    const auto tell = [&](int rank, int step) {
      meters[static_cast<std::size_t>(rank)]->until(
          state(step), dates[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step + 1)]);
    };
    if (together)
      for (int step = 0; step < steps; ++step)
        for (int rank = 0; rank < ranks; ++rank) tell(rank, step);
    else
      for (int rank = 0; rank < ranks; ++rank)
        for (int step = 0; step < steps; ++step) tell(rank, step);
    for (int i = 0; i < ranks; ++i) meters[static_cast<std::size_t>(i)]->end(CoreState::blocked, 2000);
    return account.end().energy.awake_share * 2000;
  };
  const double one_after_another = awake_s(false);
  EXPECT_GT(one_after_another, 0.3 * 1500);
  EXPECT_NEAR(awake_s(true), one_after_another, 1e-9);
}

TEST(EnergyAccount, OfTheLastTimedPartCounts) {
  const core::ClusterModel cluster = cluster_of(0);
  EnergyAccount account(cluster, {1, false});
  StateMeter& rank = account.add_rank(0, 0);
  account.begin(rank, 0);
  rank.end(dgemm, 7);
  account.begin(rank, 10);
  rank.until(dgemm, 11);
  rank.end(CoreState::blocked, 12);
  const core::SimulatedEnergy totals = account.end();
  EXPECT_EQ(account.begun_s(), 10);
  EXPECT_EQ(totals.energy.energy_j, 2 * 100 + 20 + 10);
  EXPECT_THAT(totals.trace.bins_j, ElementsAre(130, 100));
}

TEST(StateMeter, SpreadsWhatWasNotedOverTheMeeting) {
  const core::ClusterModel cluster = cluster_of(5);
  EnergyAccount account(cluster, {1, false});
  StateMeter& rank = account.add_rank(0, 0);
  account.begin(rank, 10);
  rank.until(dgemm, 11);
  rank.note();                // its own time goes back to the clock, 10.5
  rank.spent(dger, 0.5, 11);  // noted, no dates
  rank.until(dgemm, 11.5);    // means nothing while it notes
  rank.note();
  rank.add_noted(CoreState::blocked, 1);
  rank.spent(dgemm, 0.75, 12);  // after the last note
  rank.settle(13, 13.5, 14.25);
  rank.end(CoreState::messages, 14.25);
  const core::SimulatedEnergy totals = account.end();
  EXPECT_DOUBLE_EQ(seconds(totals, dgemm), 1.75);
  EXPECT_DOUBLE_EQ(seconds(totals, dger), 0.5);
  EXPECT_DOUBLE_EQ(seconds(totals, CoreState::blocked), 1.5) << "0.5 s for the others of the meeting";
  EXPECT_DOUBLE_EQ(seconds(totals, CoreState::messages), 0.5) << "what is left of the two seconds";
  EXPECT_DOUBLE_EQ(rank.total_s(), 4.25);
  // From 1 to 3.5: 0.5 s of 10 W and 2 s of 5 W, spread evenly.
  EXPECT_DOUBLE_EQ(totals.trace.bins_j[1], 120 + 15 / 2.5);
  EXPECT_DOUBLE_EQ(sum(totals.trace.bins_j), totals.energy.energy_j);
}

TEST(StateMeter, CountsDetoursInAMeetingAsTheKernelsThatTheyStretch) {
  const core::ClusterModel cluster = cluster_of(5);
  EnergyAccount account(cluster, {0, false});
  StateMeter& rank = account.add_rank(0, 0);
  account.begin(rank, 0);
  rank.note();
  rank.spent(dger, 1, 1);
  rank.note();
  rank.stretch_noted(0.25);
  rank.settle(2, 2, 2);
  rank.end(CoreState::messages, 2);
  const core::SimulatedEnergy totals = account.end();
  EXPECT_DOUBLE_EQ(seconds(totals, dger), 1.25);
  EXPECT_DOUBLE_EQ(seconds(totals, CoreState::messages), 0.75);
}

TEST(EnergyAccount, NeedsPower) {
  const core::ClusterModel without;
  EXPECT_THROW(EnergyAccount(without, {0, false}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::smpi_models
