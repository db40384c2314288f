// Random messages on a single switch, against a fluid simulation of a few lines.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "smpi-models/flow_script.hpp"
#include "smpi-models/fluid.hpp"

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
  explicit RandomMessages(std::uint64_t seed) : random_(seed) {}

  tests::ScriptedMessage next() {
    const std::size_t from = host();
    const std::size_t to = host();
    tests::ScriptedMessage message;
    message.source = rank(from);
    message.destination = rank(to);
    message.bytes = std::floor(std::exp(std::log(1e5) + uniform() * std::log(1e8 / 1e5)));
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

void expect_fluid(const core::NetworkModel::Values& network, std::uint64_t seed) {
  RandomMessages random(seed);
  tests::FlowScript script;
  std::vector<FluidFlow> flows;
  for (std::size_t i = 0; i < messages; ++i)
    flows.push_back(fluid(network, script.messages()[script.add(random.next())]));
  tests::Simulation simulation{tests::network_cluster(hosts, cores, network)};
  simulation.ranks = hosts * cores;
  const std::vector<double> received = script.received_s(simulation, "random_flows");
  const std::vector<double> expected = fluid_ends_s(flows, capacities_of(network));
  std::size_t slowed = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    const double start_s = script.messages()[i].start_s;
    // SimGrid shares links to 1e-9 (maxmin/precision).
    EXPECT_NEAR(received[i] - start_s, expected[i] - start_s, 1e-9 * (expected[i] - start_s))
        << "seed " << seed << ", message " << i;
    const double alone_s = flows[i].begin_s - start_s + flows[i].bytes / flows[i].rate_limit;
    if (expected[i] - start_s > 1.1 * alone_s) ++slowed;
  }
  EXPECT_GT(slowed, messages / 4) << "too few share links for a test";
}

TEST(RandomFlows, EndWhenMaxMinFairnessSays) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) expect_fluid(mixed_network(), seed);
}

TEST(RandomFlows, EndWhenMaxMinFairnessSaysWithABackbone) {
  core::NetworkModel::Values network = mixed_network();
  network.topology = core::SingleSwitch{core::Backbone{3e10}};  // less than five links
  for (const std::uint64_t seed : {11, 12, 13}) expect_fluid(network, seed);
}

}  // namespace
}  // namespace hplcast::smpi_models
