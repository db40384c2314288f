// Random messages: on a single switch against a fluid simulation of a few lines, elsewhere against SimGrid's flows.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "tests/smpi-models/flows/flow_script.hpp"
#include "tests/smpi-models/flows/fluid.hpp"

namespace hplcast::smpi_models {
namespace {

using core::MessageCost;
using tests::FluidFlow;

constexpr std::size_t hosts = 5;
constexpr std::size_t cores = 64;
constexpr std::size_t messages = 100;

/// Flows slower than a link, as fast as it, and with lines that start below zero.
core::NetworkModel::Values mixed_network() {
  core::NetworkModel::Values network;
  core::ScopeModel remote;
  remote.bandwidth_bytes_per_s = 1e10;
  remote.latency_s = 1e-6;
  remote.capacity = core::LinkCapacity{1.25e10};
  remote.cost(MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 3e-6, 1 / 4e9}, {3e5, 2e-4, 1 / 2e9}, {3e6, -1e-4, 1 / 5e9}, {3e7, 1e-3, 1e-11}});
  network.remote = remote;
  network.local = remote;
  network.local.latency_s = 3e-7;
  network.local.capacity = core::LinkCapacity{2e10};
  return network;
}

/// Ranks on hosts in blocks; none has two messages.
class RandomMessages {
 public:
  RandomMessages(std::uint64_t seed, double least_bytes) : random_(seed), least_bytes_(least_bytes) {}

  tests::ScriptedMessage next() {
    const std::size_t from = host();
    const std::size_t to = host();
    tests::ScriptedMessage message;
    message.source = rank(from);
    message.destination = rank(to);
    message.bytes = std::floor(std::exp(std::log(least_bytes_) + uniform() * std::log(1e8 / least_bytes_)));
    // Links have several messages at most times: 100 of 1.4e7 bytes in the mean, over five links.
    message.start_s = 1e-3 + uniform() * 2e-2;
    return message;
  }

 private:
  // Not std::uniform_real_distribution: it may differ between libraries.
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  std::size_t host() {
    for (;;) {
      const auto host = static_cast<std::size_t>(uniform() * hosts);
      if (used_[host] + 2 <= cores) return host;
    }
  }
  int rank(std::size_t host) { return static_cast<int>(host * cores + used_[host]++); }

  std::mt19937_64 random_;
  double least_bytes_;
  std::array<std::size_t, hosts> used_{};
};

/// Links: of each host up, down and inside; then the backbone.
std::vector<double> capacities_of(const core::NetworkModel::Values& network) {
  std::vector<double> capacities;
  for (std::size_t i = 0; i < hosts; ++i) {
    capacities.insert(capacities.end(), {network.remote->link_bytes_per_s(), network.remote->link_bytes_per_s(),
                                         network.local.link_bytes_per_s()});
  }
  const core::Backbone* backbone = core::backbone_of(network.topology);
  capacities.push_back(backbone != nullptr ? backbone->bandwidth_bytes_per_s : 1e30);
  return capacities;
}

FluidFlow fluid(const core::NetworkModel::Values& network, const tests::ScriptedMessage& message) {
  const std::size_t from = static_cast<std::size_t>(message.source) / cores;
  const std::size_t to = static_cast<std::size_t>(message.destination) / cores;
  const tests::LoneMessage lone = tests::lone_message(from == to ? network.local : *network.remote, message.bytes);
  FluidFlow flow{message.start_s + lone.latency_s, lone.wire_bytes, lone.rate_bytes_per_s, {3 * from + 2}};
  if (from != to) flow.links = {3 * from, 3 * to + 1, 3 * hosts};
  return flow;
}

struct Case {
  std::uint64_t seed;
  double least_bytes = 1e5;
  std::string flows = "own";
};

tests::FlowScript script_of(const Case& one) {
  RandomMessages random(one.seed, one.least_bytes);
  tests::FlowScript script;
  for (std::size_t i = 0; i < messages; ++i) script.add(random.next());
  return script;
}

std::vector<double> received_s(const core::NetworkModel::Values& network, const Case& one) {
  tests::Simulation simulation{tests::network_cluster(hosts, cores, network)};
  simulation.ranks = hosts * cores;
  simulation.settings.diagnosis.own_flows = one.flows == "own";
  return script_of(one).received_s(simulation, "random_flows");
}

void expect_fluid(const core::NetworkModel::Values& network, const Case& one) {
  const tests::FlowScript script = script_of(one);
  std::vector<FluidFlow> flows;
  for (const tests::ScriptedMessage& message : script.messages()) flows.push_back(fluid(network, message));
  const std::vector<double> received = received_s(network, one);
  const std::vector<double> expected = fluid_ends_s(flows, capacities_of(network));
  std::size_t slowed = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    const double start_s = script.messages()[i].start_s;
    // SimGrid shares links to 1e-9 (maxmin/precision), and no clock resolves less than 1e-12 s.
    EXPECT_NEAR(received[i] - start_s, expected[i] - start_s, 1e-9 * (expected[i] - start_s) + 1e-12)
        << "seed " << one.seed << ", message " << i;
    const double alone_s = flows[i].begin_s - start_s + flows[i].bytes / flows[i].rate_limit;
    if (expected[i] - start_s > 1.1 * alone_s) ++slowed;
  }
  // Small messages are seldom on their way.
  EXPECT_GT(slowed, messages / (one.least_bytes < 1e5 ? 10 : 4)) << "too few share links for a test";
}

core::NetworkModel::Values with_backbone() {
  core::NetworkModel::Values network = mixed_network();
  network.topology = core::SingleSwitch{core::Backbone{3e10}};  // less than five links
  return network;
}

TEST(RandomFlows, EndWhenMaxMinFairnessSays) {
  for (const std::uint64_t seed : {1, 2}) expect_fluid(mixed_network(), {seed});
}

TEST(RandomFlows, EndWhenMaxMinFairnessSaysWithABackbone) {
  for (const std::uint64_t seed : {11, 12}) expect_fluid(with_backbone(), {seed});
}

TEST(RandomFlows, EndWhenMaxMinFairnessSaysWithSmallMessagesBetween) {
  for (const std::uint64_t seed : {21, 22}) expect_fluid(mixed_network(), {seed, 1e3});
  expect_fluid(with_backbone(), {24, 1e3});
}

TEST(RandomFlows, EndWhenMaxMinFairnessSaysIfSimGridMovesThem) {
  expect_fluid(mixed_network(), {1, 1e5, "simgrid"});
  expect_fluid(with_backbone(), {11, 1e5, "simgrid"});
}

TEST(RandomFlows, EndWhenThoseOfSimGridDoOnEveryTopology) {
  core::NetworkModel::Values network = mixed_network();
  std::uint64_t seed = 30;
  const std::vector<core::Topology> topologies = {core::FatTree{{5, 1}, {1, 1}, {1, 1}}, core::Torus{{5}},
                                                  core::Dragonfly{{1, 1}, {5, 1}, {1, 1}, 1}};
  for (const core::Topology& topology : topologies) {
    SCOPED_TRACE(core::kind_of(topology) + (" " + core::parameters_of(topology)));
    network.topology = topology;
    const Case own{++seed};
    const tests::FlowScript script = script_of(own);
    const std::vector<double> received = received_s(network, own);
    const std::vector<double> expected = received_s(network, {seed, 1e5, "simgrid"});
    for (std::size_t i = 0; i < messages; ++i) {
      const double took_s = expected[i] - script.messages()[i].start_s;
      EXPECT_NEAR(received[i], expected[i], 1e-9 * took_s + 1e-12) << "message " << i;
    }
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
