// Messages that share links, with times worked out by hand.

#include <gtest/gtest.h>

#include <array>

#include "hplcast/core/network_model.hpp"
#include "tests/smpi-models/flows/flow_script.hpp"

namespace hplcast::smpi_models {
namespace {

using core::MessageCost;
using core::Scope;
using tests::FlowScript;
using tests::ScriptedMessage;
using tests::Simulation;

// A unit is 1e6 bytes; a host link carries one unit in a millisecond. Every message has 1 ms of latency where nothing
// else is said.
constexpr double unit_bytes = 1e6;
constexpr double ms = 1e-3;
constexpr double link_bytes_per_s = unit_bytes / ms;

/// The line of messages from `min_units` on: `latency_ms` and then `ms_per_unit` for each unit.
core::Segment line(double min_units, double latency_ms, double ms_per_unit) {
  const double slope = ms_per_unit * ms / unit_bytes;
  return {min_units * unit_bytes, latency_ms * ms + slope * core::smpi_envelope_bytes, slope};
}

/// Rates by size: as fast as a link; a quarter of it from 10 units on, half of it from 20 on.
core::NetworkModel::Values units_network() {
  core::ScopeModel scope;
  scope.bandwidth_bytes_per_s = link_bytes_per_s;
  scope.latency_s = ms;
  scope.cost(MessageCost::transfer) = core::SegmentedLaw::make({line(0, 1, 1), line(9.9, 1, 4), line(19.9, 1, 2)});
  core::NetworkModel::Values network;
  network.local = scope;
  network.remote = scope;
  return network;
}

struct Sent {
  char from, to;  // hosts A to F
  double units;   // on the wire
  double start_ms;
  double takes_ms;
};

constexpr int hosts = 6;
constexpr int cores = 8;

Simulation simulation_of(const core::NetworkModel::Values& network) {
  Simulation simulation{tests::network_cluster(hosts, cores, network)};
  simulation.ranks = hosts * cores;
  return simulation;
}

/// Every message has two ranks of its own.
void expect_times(const core::NetworkModel::Values& network, const std::vector<Sent>& messages) {
  std::array<int, hosts> used{};
  const auto rank = [&](char host) { return (host - 'A') * cores + used.at(static_cast<std::size_t>(host - 'A'))++; };
  FlowScript script;
  for (const Sent& sent : messages) {
    const int source = rank(sent.from);
    script.add(
        {source, rank(sent.to), sent.units * unit_bytes - core::smpi_envelope_bytes, (100 + sent.start_ms) * ms});
  }
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::vector<double> received = script.received_s(simulation_of(network), "max_min_" + name);
  for (std::size_t i = 0; i < received.size(); ++i) {
    const double took_ms = (received[i] - script.messages()[i].start_s) / ms;
    // 1e-6 of it is asked for.
    EXPECT_NEAR(took_ms, messages[i].takes_ms, 1e-6 * messages[i].takes_ms)
        << "message " << i << ", " << messages[i].from << " to " << messages[i].to;
  }
}

TEST(MaxMin, AMessageAloneTakesItsLine) {
  expect_times(units_network(), {{'A', 'B', 3, 0, 1 + 3}, {'C', 'D', 10, 0, 1 + 40}, {'E', 'F', 20, 0, 1 + 40}});
}

TEST(MaxMin, ASlowFlowKeepsItsRateAndTheOtherGetsTheRest) {
  // 1/4 and 3/4 of the link.
  expect_times(units_network(), {{'A', 'B', 10, 0, 1 + 40}, {'A', 'B', 6, 0, 1 + 8}});
}

TEST(MaxMin, ThreeRatesShareOneLink) {
  // 1/4 is below a third; of 3/4 the other two get 3/8 each, until the fast one has its 3 units after 8 ms. Then the
  // half rate has 17 of its 20 left, at 1/2.
  expect_times(units_network(), {{'A', 'B', 10, 0, 1 + 40}, {'A', 'B', 20, 0, 1 + 8 + 34}, {'A', 'B', 3, 0, 1 + 8}});
}

TEST(MaxMin, SlowFlowsDoNotDisturbEachOtherUntilTheLinkIsFull) {
  expect_times(units_network(), std::vector<Sent>(4, {'A', 'B', 10, 0, 1 + 40}));
  expect_times(units_network(), std::vector<Sent>(5, {'A', 'B', 10, 0, 1 + 50}));
}

TEST(MaxMin, ThreeFlowsOverTwoLinks) {
  // A and C are full with 1/2 each. A to C ends after 4 ms, then the others are alone, with 1 and 2 units left.
  expect_times(units_network(), {{'A', 'C', 2, 0, 1 + 4}, {'B', 'C', 3, 0, 1 + 5}, {'A', 'D', 4, 0, 1 + 6}});
}

TEST(MaxMin, WhatAnotherLinkHoldsBackIsForTheOthers) {
  // A gives 1/3 to each of three, so that B has 2/3 of C's link. After 9 ms B has 2 units left, alone.
  expect_times(
      units_network(),
      {{'A', 'C', 3, 0, 1 + 9}, {'A', 'D', 3, 0, 1 + 9}, {'A', 'E', 3, 0, 1 + 9}, {'B', 'C', 8, 0, 1 + 9 + 2}});
}

TEST(MaxMin, ManySendersToOneHostShareItsLink) {
  // 1/5 each until the first ends, then 1/4 and so on: 5, 4, 3, 2, 1 ms for each further unit.
  expect_times(units_network(), {{'B', 'A', 1, 0, 1 + 5},
                                 {'C', 'A', 2, 0, 1 + 9},
                                 {'D', 'A', 3, 0, 1 + 12},
                                 {'E', 'A', 4, 0, 1 + 14},
                                 {'F', 'A', 5, 0, 1 + 15}});
}

TEST(MaxMin, OneHostToManyReceiversSharesItsLink) {
  expect_times(units_network(), {{'A', 'B', 1, 0, 1 + 5},
                                 {'A', 'C', 2, 0, 1 + 9},
                                 {'A', 'D', 3, 0, 1 + 12},
                                 {'A', 'E', 4, 0, 1 + 14},
                                 {'A', 'F', 5, 0, 1 + 15}});
}

TEST(MaxMin, TheTwoDirectionsOfALinkDoNotDisturbEachOther) {
  expect_times(units_network(), {{'A', 'B', 3, 0, 1 + 3}, {'B', 'A', 4, 0, 1 + 4}});
  // B and C share A's way in: 4 units each in 8 ms.
  expect_times(units_network(), {{'A', 'B', 3, 0, 1 + 3}, {'B', 'A', 4, 0, 1 + 8}, {'C', 'A', 4, 0, 1 + 8}});
}

TEST(MaxMin, AFlowThatEndsLeavesItsShare) {
  expect_times(units_network(), {{'A', 'B', 1, 0, 1 + 2}, {'A', 'B', 2, 0, 1 + 3}});
}

TEST(MaxMin, AFlowThatBeginsTakesItsShareAfterItsLatency) {
  // The first has 1 of 2 units left when the bytes of the second begin.
  expect_times(units_network(), {{'A', 'B', 2, 0, 1 + 3}, {'A', 'B', 2, 1, 1 + 3}});
  // A message whose latency is not over takes nothing: the first is done.
  expect_times(units_network(), {{'A', 'B', 2, 0, 1 + 2}, {'A', 'B', 2, 2, 1 + 2}});
}

TEST(MaxMin, ABackboneIsSharedByAllHosts) {
  core::NetworkModel::Values network = units_network();
  network.topology = core::SingleSwitch{core::Backbone{1.5 * link_bytes_per_s, 0.4 * ms}};  // part of the route's
  expect_times(network, {{'A', 'B', 3, 0, 1 + 6}, {'C', 'D', 3, 0, 1 + 6}, {'E', 'F', 3, 0, 1 + 6}});
  // A slow flow has 1/4, the others 5/8 each of the backbone.
  expect_times(network, {{'A', 'B', 10, 0, 1 + 40}, {'C', 'D', 5, 0, 1 + 8}, {'E', 'F', 5, 0, 1 + 8}});
  // A's link gives 1/4 to each of four; what they leave of the backbone is half a link for C.
  expect_times(network, {{'A', 'B', 2, 0, 1 + 8},
                         {'A', 'B', 2, 0, 1 + 8},
                         {'A', 'E', 2, 0, 1 + 8},
                         {'A', 'F', 2, 0, 1 + 8},
                         {'C', 'D', 4, 0, 1 + 8}});
}

TEST(MaxMin, LocalMessagesShareTheCapacityOfTheirHost) {
  core::NetworkModel::Values network = units_network();
  network.local.capacity = core::LinkCapacity{2 * link_bytes_per_s};
  // Two at a time do not notice each other; four have half of their rate each. Links are no concern of theirs.
  expect_times(network, {{'A', 'A', 3, 0, 1 + 3}, {'A', 'A', 3, 0, 1 + 3}, {'A', 'B', 3, 0, 1 + 3}});
  expect_times(network, {{'A', 'A', 2, 0, 1 + 4},
                         {'A', 'A', 2, 0, 1 + 4},
                         {'A', 'A', 2, 0, 1 + 4},
                         {'B', 'B', 2, 0, 1 + 2},
                         {'A', 'A', 3, 0, 1 + 5}});
}

TEST(MaxMin, LocalMessagesWithoutACapacityNeverSlowEachOther) {
  expect_times(units_network(),
               {{'A', 'A', 3, 0, 1 + 3}, {'A', 'A', 3, 0, 1 + 3}, {'A', 'A', 10, 0, 1 + 40}, {'A', 'A', 2, 1, 1 + 2}});
}

TEST(MaxMin, AMessageThatItsLineSaysIsFasterThanItsRateHasAHigherRate) {
  core::NetworkModel::Values network = units_network();
  // 4 ms per unit, but 80 ms less: 40 units take 80 ms, without latency and with half of the link.
  network.remote->cost(MessageCost::transfer) = core::SegmentedLaw::make({line(0, 1, 1), line(30, -80, 4)});
  expect_times(network, {{'A', 'B', 40, 0, 80}, {'A', 'B', 5, 0, 1 + 10}});
  // Three of them are more than a link.
  expect_times(network, std::vector<Sent>(3, {'A', 'B', 40, 0, 120}));
}

TEST(MaxMin, MessagesOfALineThatFallsFillTheLink) {
  core::NetworkModel::Values network = units_network();
  // 50 units take 120 - 50 = 70 ms: 20 of latency, then as fast as the link.
  network.remote->cost(MessageCost::transfer) = core::SegmentedLaw::make({line(0, 1, 1), line(49.9, 120, -1)});
  expect_times(network, {{'A', 'B', 50, 0, 70}});
  expect_times(network, std::vector<Sent>(2, {'A', 'B', 50, 0, 20 + 100}));
}

TEST(MaxMin, MessagesOfALineFasterThanTheLinkTakeTheTimeOfTheLink) {
  core::NetworkModel::Values network = units_network();
  network.remote->cost(MessageCost::transfer) = core::SegmentedLaw::make({line(0, 1, 0.25)});
  expect_times(network, {{'A', 'B', 8, 0, 8}});  // 1 + 2 ms would be four times the link
  expect_times(network, {{'A', 'B', 1, 0, 1.25}});
  expect_times(network, std::vector<Sent>(3, {'A', 'B', 8, 0, 24}));
}

/// A slow message and a fast one, on one link. Their receivers call `receive_ms` after the senders, wait from `wait_ms`
/// on; the messages begin `delay_ms` after the senders' calls.
void expect_shares(std::uint64_t async_small_bytes, std::uint64_t detached_bytes, const std::string& call,
                   double receive_ms, double wait_ms, double delay_ms) {
  core::NetworkModel::Values network = units_network();
  network.async_small_bytes = async_small_bytes;
  network.detached_bytes = detached_bytes;
  FlowScript script;
  for (const auto& [index, units] : {std::pair{0, 10.0}, std::pair{1, 6.0}}) {
    script.add({index, cores + index, units * unit_bytes - core::smpi_envelope_bytes, 100 * ms, (100 + receive_ms) * ms,
                (100 + wait_ms) * ms, call});
  }
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::vector<double> received = script.received_s(simulation_of(network), "max_min_" + name);
  EXPECT_NEAR(received[0] / ms, 100 + delay_ms + 1 + 40, 1e-6);
  EXPECT_NEAR(received[1] / ms, 100 + delay_ms + 1 + 8, 1e-6);
}

constexpr std::uint64_t none = 0;
constexpr std::uint64_t all = 1000000000;

TEST(Shares, AreTheSameIfTheReceiverWaits) {
  expect_shares(none, none, "isend", -2, -2, 0);
  expect_shares(none, none, "ssend", -2, -2, 0);
  expect_shares(none, all, "send", -2, -2, 0);
  expect_shares(all, all, "send", -2, -2, 0);
}

TEST(Shares, AreTheSameIfTheReceiverHasCalledAndDoesSomethingElse) {
  expect_shares(none, none, "isend", -2, 2, 0);
  expect_shares(none, none, "ssend", -2, 2, 0);
  expect_shares(none, all, "send", -2, 2, 0);
  expect_shares(all, all, "send", -2, 2, 0);
}

TEST(Shares, AreTheSameIfTheReceiverIsLate) {
  expect_shares(none, none, "isend", 2, 2, 2);
  expect_shares(none, all, "ssend", 2, 2, 2);
  expect_shares(none, all, "isend", 2, 2, 2);
  expect_shares(all, all, "isend", 2, 2, 0);  // eager: under way before the receiver calls
}

/// Messages of 5 units without latency, of fewer with 1 ms: on any route they weigh alike. The long one is alone until
/// the bytes of the other begin.
core::NetworkModel::Values network_of_long_and_short(const core::Topology& topology) {
  core::NetworkModel::Values network = units_network();
  network.remote->cost(MessageCost::transfer) = core::SegmentedLaw::make({line(0, 1, 1), line(4.9, 0, 1)});
  network.local = *network.remote;
  network.local.capacity = core::LinkCapacity{link_bytes_per_s};
  network.topology = topology;
  return network;
}

TEST(FlowsWithoutLatency, ShareALinkAlikeWithOthers) {
  expect_times(network_of_long_and_short({}), {{'A', 'B', 5, 0, 1 + 4 + 2}, {'A', 'B', 2, 0, 1 + 4}});
}

TEST(FlowsWithoutLatency, ShareABackboneAlikeWithOthers) {
  expect_times(network_of_long_and_short(core::SingleSwitch{core::Backbone{link_bytes_per_s, 0.1 * ms}}),
               {{'A', 'B', 5, 0, 1 + 4 + 2}, {'C', 'D', 2, 0, 1 + 4}});
}

TEST(FlowsWithoutLatency, ShareTheInsideOfAHostAlikeWithOthers) {
  expect_times(network_of_long_and_short({}), {{'A', 'A', 5, 0, 1 + 4 + 2}, {'A', 'A', 2, 0, 1 + 4}});
}

TEST(FlowsWithoutLatency, ShareRoutesOfOtherLengthsAlikeWithOthers) {
  // One link has half of the latency that was measured with two, four links have twice of it.
  expect_times(network_of_long_and_short(core::Torus{{6}}),
               {{'A', 'B', 5, 0, 0.5 + 4 + 2.5}, {'A', 'B', 2, 0, 0.5 + 4}});
  expect_times(network_of_long_and_short(core::FatTree{{1, 6}, {1, 1}, {1, 1}}),
               {{'A', 'B', 5, 0, 2 + 4 + 1}, {'A', 'B', 2, 0, 2 + 4}});
}

// Hosts in pairs on one switch, A and B on the first. From A, B is two links away, C four (or three, on a dragonfly).

TEST(FatTree, FlowsOverRoutesOfAnyLengthShareALinkAlike) {
  core::NetworkModel::Values network = units_network();
  network.topology = core::FatTree{{2, 3}, {1, 1}, {1, 1}};
  // To B 1 unit alone, then both have half of A's link for 4 ms, then to C the rest, 2 units.
  expect_times(network, {{'A', 'B', 3, 0, 1 + 1 + 4}, {'A', 'C', 4, 0, 2 + 4 + 2}});
}

TEST(FatTree, MayHavePlacesLeftOnItsLastLeafSwitch) {
  // A to D on the first, E and F on the second of two switches with four places each.
  core::NetworkModel::Values network = units_network();
  network.topology = core::FatTree{{4, 2}, {1, 1}, {1, 1}};
  expect_times(network, {{'A', 'B', 3, 0, 1 + 1 + 4}, {'A', 'E', 4, 0, 2 + 4 + 2}});
  expect_times(network, {{'F', 'E', 3, 0, 1 + 1 + 4}, {'F', 'D', 4, 0, 2 + 4 + 2}});
}

TEST(Dragonfly, FlowsOverRoutesOfAnyLengthShareALinkAlike) {
  core::NetworkModel::Values network = units_network();
  network.topology = core::Dragonfly{{1, 1}, {1, 1}, {3, 1}, 2};
  expect_times(network, {{'A', 'B', 3, 0, 1 + 0.5 + 5}, {'A', 'C', 4, 0, 1.5 + 5 + 1.5}});
}

TEST(Torus, AFlowOverMoreLinksHasLessOfEach) {
  // A to C goes over B. 0.5 units alone; then 2/3 and 1/3 of the link, as two links and one weigh.
  core::NetworkModel::Values network = units_network();
  network.topology = core::Torus{{6}};
  expect_times(network, {{'A', 'B', 4, 0, 0.5 + 0.5 + 5.25}, {'A', 'C', 3, 0, 1 + 5.25 + 1.25}});
}

/// A sends 2.5 units to B; B, which has called for them, begins to send 3 units to A 2 ms later. What the latter takes.
double opposite_takes_ms(bool half_duplex, double detached_bytes, double after_ms) {
  core::NetworkModel::Values network = units_network();
  network.remote->half_duplex = half_duplex;
  network.detached_bytes = static_cast<std::uint64_t>(detached_bytes);
  FlowScript script;
  const double back_s = (100 + after_ms) * ms;
  script.add({0, cores, 2.5 * unit_bytes - core::smpi_envelope_bytes, 100 * ms, 100 * ms, back_s, "send"});
  const std::size_t back =
      script.add({cores, 0, 3 * unit_bytes - core::smpi_envelope_bytes, back_s, 100 * ms, -1, "send"});
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  return (script.received_s(simulation_of(network), "max_min_" + name)[back] - back_s) / ms;
}

TEST(HalfDuplex, AMessageThatWaitsForItsReceiverLetsTheOppositeOnePass) {
  EXPECT_NEAR(opposite_takes_ms(true, 0, 2), 1.5 + 1 + 3, 1e-6);
}

TEST(HalfDuplex, MessagesThatBeginAtOnceGoTogether) {
  EXPECT_NEAR(opposite_takes_ms(true, 0, 0), 1 + 3, 1e-6);
}

TEST(HalfDuplex, AMessageThatDoesNotWaitForItsReceiverGoesAtOnce) {
  EXPECT_NEAR(opposite_takes_ms(true, 1e9, 2), 1 + 3, 1e-6);
}

TEST(HalfDuplex, OnAFullDuplexNetworkBothGoAtOnce) {
  EXPECT_NEAR(opposite_takes_ms(false, 0, 2), 1 + 3, 1e-6);
}

}  // namespace
}  // namespace hplcast::smpi_models
