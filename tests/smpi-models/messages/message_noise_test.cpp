// Noise of messages goes by what they are, not by when they are sent.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "smpi-models/platform/network_costs.hpp"
#include "tests/smpi-models/flows/flow_script.hpp"

namespace hplcast::smpi_models {
namespace {

using core::MessageCost;
using core::Scope;
using tests::FlowScript;
using tests::ScriptedMessage;

constexpr int cores = 4;
constexpr int hosts = 2;
constexpr std::uint64_t seed = 7;
// Rounding of clocks of up to a second, each of some sleeps and flows within SimGrid's picosecond.
constexpr double tolerance_s = 5e-12;

/// Every cost of both scopes has noise. From 5000 bytes on draws are often below what a link can do.
core::NetworkModel::Values noisy_network() {
  core::ScopeModel scope;
  scope.bandwidth_bytes_per_s = 1e10;
  scope.latency_s = 1e-6;
  scope.cost(MessageCost::send) = core::SegmentedLaw::make({{0, 1e-6, 1e-11, 2e-7}});
  scope.cost(MessageCost::isend) = core::SegmentedLaw::make({{0, 5e-7, 1e-11, 3e-7}});
  scope.cost(MessageCost::recv) = core::SegmentedLaw::make({{0, 0, 1e-11, 0, {{0.5, 3e-7, 1e-7}, {0.5, 2e-6, 0}}}});
  scope.cost(MessageCost::transfer) = core::SegmentedLaw::make(
      {{0, 0, 4e-10, 0, {{0.7, 2e-6, 1e-7}, {0.3, 2e-5, 5e-6}}}, {5000, 1e-7, 1e-10, 2e-5}, {1e6, 5e-5, 2e-10, 4e-5}});
  core::NetworkModel::Values network;
  network.local = scope;
  network.remote = scope;
  network.remote->capacity = core::LinkCapacity{1.25e10};
  network.async_small_bytes = 2000;
  network.detached_bytes = 500000;
  return network;
}

std::vector<double> durations_s(const FlowScript& script, const std::string& name) {
  tests::Simulation simulation{tests::network_cluster(hosts, cores, noisy_network())};
  simulation.ranks = hosts * cores;
  simulation.settings.seed = seed;
  std::vector<double> result = script.received_s(simulation, "message_noise_" + name);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= script.messages()[i].start_s;
  return result;
}

/// The numbers of messages in the order of the script: among those of the same ends and tag, from 0.
std::vector<MessageName> names_of(const FlowScript& script) {
  std::map<std::array<std::uint32_t, 3>, std::uint64_t> sent;
  std::vector<MessageName> names;
  for (const ScriptedMessage& message : script.messages()) {
    const std::array<std::uint32_t, 3> channel = {static_cast<std::uint32_t>(message.source),
                                                  static_cast<std::uint32_t>(message.destination),
                                                  static_cast<std::uint32_t>(message.tag)};
    names.push_back({channel[0], channel[1], channel[2], sent[channel]++});
  }
  return names;
}

/// What a message that is called for in time takes until it is received.
double expected_s(const NetworkCosts& costs, const core::NetworkModel::Values& network, const ScriptedMessage& message,
                  const MessageName& name) {
  const Scope scope = message.source / cores == message.destination / cores ? Scope::local : Scope::remote;
  const core::MessageFlow flow = costs.flow(scope, message.bytes, &name);
  double time_s = std::max(0.0, costs.overhead_s(MessageCost::isend, scope, message.bytes, &name)) + flow.latency_s +
                  (message.bytes + core::smpi_envelope_bytes) / flow.bandwidth_bytes_per_s;
  if (message.bytes < static_cast<double>(network.detached_bytes)) {
    time_s += std::max(0.0, costs.overhead_s(MessageCost::recv, scope, message.bytes, &name));
  }
  return time_s;
}

/// 24 messages between and inside hosts, the first at `begin_s`, a millisecond from one to the next; two tags.
void add_some(FlowScript& script, double begin_s) {
  for (int i = 0; i < 24; ++i) {
    const double bytes = std::array{100.0, 4000.0, 20000.0, 300000.0, 2e6, 3e6}[static_cast<std::size_t>(i % 6)];
    ScriptedMessage message{0, i % 4 == 3 ? 1 : cores, bytes, begin_s + 1e-3 * i};
    message.tag = i % 2;
    script.add(message);
  }
}

TEST(MessageNoise, EveryMessageAloneTakesItsDrawnTime) {
  FlowScript script;
  add_some(script, 1e-3);
  const core::NetworkModel::Values network = noisy_network();
  const NetworkCosts costs(core::NetworkModel::make(network), seed, true);
  const std::vector<double> took = durations_s(script, "drawn");
  const std::vector<MessageName> names = names_of(script);
  for (std::size_t i = 0; i < took.size(); ++i) {
    EXPECT_NEAR(took[i], expected_s(costs, network, script.messages()[i], names[i]), tolerance_s) << i;
  }
}

TEST(MessageNoise, SomeMessagesAreFasterThanTheLink) {
  FlowScript script;
  add_some(script, 1e-3);
  const core::NetworkModel::Values network = noisy_network();
  const NetworkCosts costs(core::NetworkModel::make(network), seed, true);
  const std::vector<MessageName> names = names_of(script);
  std::size_t faster = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ScriptedMessage& message = script.messages()[i];
    if (message.destination < cores) continue;
    const core::MessageFlow flow = costs.flow(Scope::remote, message.bytes, &names[i]);
    if (flow.bandwidth_bytes_per_s > network.remote->link_bytes_per_s()) ++faster;
  }
  EXPECT_GT(faster, 0U) << "the test above looks at none";
}

TEST(MessageNoise, DoesNotDependOnWhatOthersSendInBetween) {
  FlowScript alone;
  add_some(alone, 1e-3);
  FlowScript among_others;
  add_some(among_others, 1e-3);
  // Half a millisecond before each, between the same hosts and with the same tags.
  for (int i = 0; i < 24; ++i) {
    ScriptedMessage other{2, i % 3 == 0 ? 3 : cores + 1, 1000.0 * (i + 1), 5e-4 + 1e-3 * i};
    other.tag = i % 2;
    among_others.add(other);
  }
  const std::vector<double> before = durations_s(alone, "alone");
  const std::vector<double> after = durations_s(among_others, "among_others");
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], tolerance_s) << i;
}

TEST(MessageNoise, DoesNotDependOnTheOrderOfTags) {
  const auto run = [](bool swapped) {
    FlowScript script;
    for (const int tag : {3, 4}) {
      for (int i = 0; i < 6; ++i) {
        ScriptedMessage message{0, cores, 3000, 1e-3 * (1 + 2 * i + ((tag == 3) == swapped ? 1 : 0))};
        message.tag = tag;
        script.add(message);
      }
    }
    return durations_s(script, swapped ? "swapped" : "in_order");
  };
  const std::vector<double> before = run(false);
  const std::vector<double> after = run(true);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], tolerance_s) << i;
  EXPECT_GT(*std::max_element(before.begin(), before.end()), *std::min_element(before.begin(), before.end()) + 1e-8)
      << "without noise this shows nothing";
}

TEST(MessageNoise, DoesNotDependOnWhichOfTwoRanksSendsFirst) {
  const auto run = [](double one_s, double other_s, const std::string& name) {
    FlowScript script;
    script.add({0, cores, 2e6, one_s});
    script.add({1, cores, 2e6, other_s});
    return durations_s(script, name);
  };
  const std::vector<double> before = run(1e-3, 1e-2, "one_first");
  const std::vector<double> after = run(1e-2, 1e-3, "other_first");
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(after[i], before[i], tolerance_s) << i;
}

}  // namespace
}  // namespace hplcast::smpi_models
