#include "hplcast/core/doubts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "hplcast/core/text.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

/// Flows of 4 GB/s on links of 12.5 GB/s, and 10 GB/s inside a host.
NetworkModel network(const std::function<void(NetworkModel::Values&)>& change = {}) {
  NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e10;
  values.local.latency_s = 1e-6;
  values.local.max_bytes = 1e7;
  values.local.cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 1e-10}});
  values.remote = values.local;
  values.remote->bandwidth_bytes_per_s = 4e9;
  values.remote->capacity = LinkCapacity{12.5e9, 0, 0, LinkCapacity::Origin::measured};
  values.remote->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 1e-9}, {64000, 5e-5, 0.25e-9}});
  if (change) change(values);
  return NetworkModel::make(values);
}

TEST(NetworkChecks, FindNothingInAModelThatAgreesWithItself) {
  EXPECT_TRUE(contradictions(network()).empty());
  EXPECT_FALSE(capacity_unknown(network(), Scope::remote));
}

TEST(NetworkChecks, TheFastestFlowIsLookedForUpToTheLargestSizeMeasured) {
  const auto flow = fastest_flow(network().scope(Scope::remote));
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->size_bytes, 1e7);
  EXPECT_NEAR(flow->bytes_per_s, (1e7 + 16) / (5e-5 + 1e7 * 0.25e-9), 1);
  const auto unknown_end = fastest_flow(network([](auto& v) { v.remote->max_bytes = 0; }).scope(Scope::remote));
  EXPECT_EQ(unknown_end->size_bytes, 65536) << "nothing is known of longer ones";
  EXPECT_FALSE(fastest_flow(
      network([](auto& v) { v.remote->cost(MessageCost::transfer) = SegmentedLaw(); }).scope(Scope::remote)))
      << "messages that cost nothing";
}

TEST(NetworkChecks, ACapacityBelowTheRateOfASingleFlowIsFound) {
  const auto small = [](double bytes_per_s, double high) {
    return network([&](auto& v) {
      v.remote->capacity = LinkCapacity{bytes_per_s, high > 0 ? 0.9 * bytes_per_s : 0, high};
    });
  };
  const auto doubt = capacity_below_rate(small(3e9, 0), Scope::remote);
  ASSERT_TRUE(doubt);
  EXPECT_EQ(doubt->flag, "capacity_below_rate");
  EXPECT_EQ(doubt->subject, "remote");
  EXPECT_THAT(doubt->detail,
              HasSubstr("a single message of 10000000 bytes goes at 3.92 GB/s, but the capacity is 3 GB/s"));
  EXPECT_FALSE(capacity_below_rate(small(3.5e9, 4.5e9), Scope::remote)) << "its interval holds the rate";
  EXPECT_FALSE(capacity_below_rate(small(3.9e9, 0), Scope::remote)) << "less than five percent";
}

TEST(NetworkChecks, ShortMessagesThatBuffersTakeInFasterAreNoContradiction) {
  EXPECT_TRUE(contradictions(network([](auto& v) {
                v.remote->cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 1e-12}, {64000, 5e-5, 0.25e-9}});
              })).empty());
}

TEST(NetworkChecks, LinksOfATreeSlowerThanTheFlowsAreNamedSo) {
  const auto tree = network([](auto& v) {
    v.remote->capacity->bytes_per_s = 2e9;
    v.topology = FatTree{{2}, {1}, {1}};
  });
  const auto doubts = contradictions(tree);
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_THAT(doubts.front().detail, HasSubstr("the capacity of each link of the fat_tree is 2 GB/s"));
}

TEST(NetworkChecks, ACapacityBelowTheRateOfAPanelIsFound) {
  const auto doubt = capacity_below_rate(network([](auto& v) {
                                           v.local.capacity = LinkCapacity{12e9};
                                           v.local.panels = SegmentedLaw::make({{0, 1e-6, 0.05e-9}});
                                         }),
                                         Scope::local);
  ASSERT_TRUE(doubt);
  EXPECT_THAT(doubt->detail,
              HasSubstr("a single panel of 10000000 bytes goes at 20 GB/s, but the capacity is 12 GB/s"));
}

TEST(NetworkChecks, ABackboneSlowerThanASingleFlowIsFound) {
  const auto slow = network([](auto& v) { v.topology = SingleSwitch{Backbone{1e9}}; });
  ASSERT_TRUE(slow_backbone(slow));
  EXPECT_THAT(slow_backbone(slow)->detail, HasSubstr("the backbone that all hosts share has 1 GB/s"));
  EXPECT_FALSE(slow_backbone(network([](auto& v) { v.topology = SingleSwitch{Backbone{5e9}}; })));
  EXPECT_FALSE(slow_backbone(network([](auto& v) {
    v.topology = SingleSwitch{Backbone{1e9}};
    v.remote.reset();
  }))) << "one host";
}

TEST(NetworkChecks, AMessageInsideAHostIsOnlyComparedWithACapacity) {
  EXPECT_FALSE(capacity_below_rate(network([](auto& v) { v.local.bandwidth_bytes_per_s = 1e9; }), Scope::local));
  const auto given = network([](auto& v) { v.local.capacity = LinkCapacity{1e9}; });
  EXPECT_TRUE(capacity_below_rate(given, Scope::local));
}

TEST(NetworkChecks, AnUnknownCapacitySaysWhatIsAssumed) {
  const auto unknown = network([](auto& v) { v.remote->capacity.reset(); });
  EXPECT_THAT(capacity_unknown(unknown, Scope::remote)->detail, HasSubstr("the bandwidth of a single flow, 4 GB/s"));
  EXPECT_THAT(capacity_unknown(unknown, Scope::local)->detail, HasSubstr("do not slow each other down"));
  EXPECT_FALSE(capacity_unknown(network([](auto& v) { v.remote.reset(); }), Scope::remote)) << "there are no others";
}

TEST(RateText, HasThreeDigits) {
  EXPECT_EQ(rate_text(12.5e9), "12.5 GB/s");
  EXPECT_EQ(rate_text(61.05e6), "61 MB/s");
}

}  // namespace
}  // namespace hplcast::core
