#include "hplcast/core/network_model.hpp"

#include <gtest/gtest.h>

namespace hplcast::core {
namespace {

// Powers of two, so that results are exact: a link of 2^30 bytes/s takes 2^-10 s for 2^20 bytes.
constexpr double capacity = 1 << 30;
constexpr double wire = 1 << 20;
constexpr double at_capacity_s = wire / capacity;
constexpr LinkLimit shared{capacity, true};
constexpr LinkLimit not_shared{capacity, false};
constexpr double fastest = 1e6 * capacity;

double alone_s(const MessageFlow& flow) {
  return flow.latency_s + wire / flow.bandwidth_bytes_per_s;
}

TEST(MessageFlow, HasTheRateOfItsLineAndTheRestAsLatency) {
  const MessageFlow flow = message_flow(5 * at_capacity_s, 0, 4 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity / 4);
  EXPECT_EQ(flow.latency_s, at_capacity_s);
}

TEST(MessageFlow, WithoutLatencyStillHasTheRateOfItsLine) {
  const MessageFlow flow = message_flow(4 * at_capacity_s, 0, 4 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity / 4);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(MessageFlow, OfALineFasterThanTheLinkHasTheRateOfTheLink) {
  const MessageFlow flow = message_flow(5 * at_capacity_s, 0, 0.25 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity);
  EXPECT_EQ(flow.latency_s, 4 * at_capacity_s);
}

TEST(MessageFlow, TakesAtLeastTheTimeOfTheLink) {
  const MessageFlow flow = message_flow(0.5 * at_capacity_s, 0, 0.25 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(MessageFlow, OfALevelOrFallingLineHasTheRateOfTheLink) {
  for (const double slope : {0.0, -1 / capacity}) {
    const MessageFlow flow = message_flow(3 * at_capacity_s, 0, slope, wire, shared);
    EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity) << slope;
    EXPECT_EQ(flow.latency_s, 2 * at_capacity_s) << slope;
  }
}

TEST(MessageFlow, OfALineThatStartsBelowZeroIsAsFastAsItsDurationSays) {
  const MessageFlow flow = message_flow(2 * at_capacity_s, 0, 4 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity / 2);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(MessageFlow, OfALineBelowZeroTakesTheTimeOfTheLink) {
  const MessageFlow flow = message_flow(0, 0, 4 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(MessageFlow, NoiseThatSlowsIsLatency) {
  const MessageFlow flow = message_flow(5 * at_capacity_s, 3 * at_capacity_s, 4 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, capacity / 4);
  EXPECT_EQ(flow.latency_s, 4 * at_capacity_s);
}

TEST(MessageFlow, NoiseComesOnTopOfTheTimeOfTheLink) {
  const MessageFlow flow = message_flow(0.5 * at_capacity_s, at_capacity_s, 0.5 / capacity, wire, shared);
  EXPECT_EQ(alone_s(flow), 2 * at_capacity_s);
}

TEST(MessageFlow, NoiseThatHastensTakesLatencyFirstThenRaisesTheRate) {
  const MessageFlow less_latency = message_flow(5 * at_capacity_s, -0.5 * at_capacity_s, 4 / capacity, wire, shared);
  EXPECT_EQ(less_latency.bandwidth_bytes_per_s, capacity / 4);
  EXPECT_EQ(less_latency.latency_s, 0.5 * at_capacity_s);
  const MessageFlow faster = message_flow(5 * at_capacity_s, -3 * at_capacity_s, 4 / capacity, wire, shared);
  EXPECT_EQ(faster.bandwidth_bytes_per_s, capacity / 2);
  EXPECT_EQ(faster.latency_s, 0);
}

TEST(MessageFlow, ByNoiseAMessageCanBeFasterThanTheLink) {
  const MessageFlow flow = message_flow(at_capacity_s, -0.75 * at_capacity_s, 1 / capacity, wire, shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, 4 * capacity);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(MessageFlow, IsNeverFasterThanAMillionLinks) {
  for (const double noise : {-at_capacity_s, -2 * at_capacity_s, -at_capacity_s * (1 - 1e-9)}) {
    const MessageFlow flow = message_flow(at_capacity_s, noise, 1 / capacity, wire, shared);
    EXPECT_EQ(flow.bandwidth_bytes_per_s, fastest) << noise;
    EXPECT_EQ(flow.latency_s, 0) << noise;
  }
}

TEST(MessageFlow, OnALinkThatIsNotSharedMayBeFasterThanTheLink) {
  const MessageFlow flow = message_flow(0.5 * at_capacity_s, 0, 0.25 / capacity, wire, not_shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, 4 * capacity);
  EXPECT_EQ(flow.latency_s, 0.25 * at_capacity_s);
}

TEST(MessageFlow, WithoutRateOnALinkThatIsNotSharedIsLatency) {
  const MessageFlow flow = message_flow(at_capacity_s, 0, 0, wire, not_shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, fastest);
  EXPECT_EQ(flow.latency_s, at_capacity_s - wire / fastest);
}

TEST(MessageFlow, ThatTakesNoTimeOnALinkThatIsNotSharedHasItsHighestRate) {
  const MessageFlow flow = message_flow(0, 0, 0, wire, not_shared);
  EXPECT_EQ(flow.bandwidth_bytes_per_s, fastest);
  EXPECT_EQ(flow.latency_s, 0);
}

TEST(LinkLimit, BetweenHostsIsSharedWhetherItsCapacityWasMeasuredOrNot) {
  ScopeModel scope;
  scope.bandwidth_bytes_per_s = 3e9;
  EXPECT_EQ(link_limit(scope, Scope::remote).bytes_per_s, 3e9);
  EXPECT_TRUE(link_limit(scope, Scope::remote).is_shared);
  scope.capacity = LinkCapacity{12e9};
  EXPECT_EQ(link_limit(scope, Scope::remote).bytes_per_s, 12e9);
  EXPECT_TRUE(link_limit(scope, Scope::remote).is_shared);
}

TEST(LinkLimit, InsideAHostIsSharedOnlyIfItsCapacityIsKnown) {
  ScopeModel scope;
  scope.bandwidth_bytes_per_s = 3e9;
  EXPECT_EQ(link_limit(scope, Scope::local).bytes_per_s, 3e9);
  EXPECT_FALSE(link_limit(scope, Scope::local).is_shared);
  scope.capacity = LinkCapacity{12e9};
  EXPECT_EQ(link_limit(scope, Scope::local).bytes_per_s, 12e9);
  EXPECT_TRUE(link_limit(scope, Scope::local).is_shared);
}

NetworkModel network_of(const Topology& topology) {
  NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e9;
  values.local.latency_s = 1e-6;
  values.remote = values.local;
  values.remote->latency_s = 8e-6;
  values.topology = topology;
  return NetworkModel::make(values);
}

TEST(HostLinkLatency, IsHalfOfTheRouteWithoutTheBackbone) {
  EXPECT_EQ(host_link_latency_s(network_of(SingleSwitch{})), 4e-6);
  EXPECT_EQ(host_link_latency_s(network_of(SingleSwitch{Backbone{1e10, 2e-6}})), 3e-6);
  EXPECT_EQ(host_link_latency_s(network_of(SingleSwitch{Backbone{1e10, 9e-6}})), 0);
  EXPECT_EQ(host_link_latency_s(network_of(Torus{{2, 2}})), 4e-6) << "it has no backbone";
}

}  // namespace
}  // namespace hplcast::core
