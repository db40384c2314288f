#include "hplcast/core/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

TEST(Topology, IsWrittenAsItIsRead) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"single_switch", ""}, {"fat_tree", "2;4,8;1,2;1,3"}, {"dragonfly", "3,4;3,2;3,1;2"}, {"torus", "4,4,2"}};
  EXPECT_EQ(all.size(), std::variant_size_v<Topology>);
  for (const auto& [kind, parameters] : all) {
    const Topology topology = topology_from(kind, parameters);
    EXPECT_EQ(kind_of(topology), kind);
    EXPECT_EQ(parameters_of(topology), parameters);
  }
}

TEST(Topology, SaysHowManyHostsItJoins) {
  EXPECT_EQ(hosts_of(SingleSwitch{}), std::nullopt);
  EXPECT_EQ(hosts_of(FatTree::from("2;4,8;1,2;1,1")), 32U);
  EXPECT_EQ(hosts_of(Dragonfly::from("3,4;3,2;3,1;2")), 54U);
  EXPECT_EQ(hosts_of(Torus::from("4,4,2")), 32U);
}

TEST(Topology, OnlyTheLastLeafSwitchOfAFatTreeHasPlacesLeft) {
  const Topology tree = FatTree::from("2;4,8;1,2;1,1");
  EXPECT_TRUE(has_places_for(tree, 32));
  EXPECT_TRUE(has_places_for(tree, 29));
  EXPECT_FALSE(has_places_for(tree, 28));
  EXPECT_FALSE(has_places_for(tree, 33));
  EXPECT_FALSE(has_places_for(Torus::from("4,4,2"), 31));
  EXPECT_TRUE(has_places_for(SingleSwitch{}, 31));
}

TEST(Topology, OfAnUnknownKindIsRefusedWithTheKindsThereAre) {
  EXPECT_THAT(error_in([] { topology_from("no_such_kind", "4"); }),
              HasSubstr("single_switch, fat_tree, dragonfly, torus"));
}

TEST(Topology, RefusesParametersOfAnotherForm) {
  for (const char* parameters :
       {"", "2;4,8;1,2", "2;4;1;1", "1,1;4;1;1", "1;4;0;1", "1;4.5;1;1", "1;;1;1", "1;4;1;x"}) {
    EXPECT_THAT(error_in([&] { FatTree::from(parameters); }), HasSubstr("such as 2;16,2;1,4;1,1")) << parameters;
  }
  for (const char* parameters : {"3;3,2;3,1;2", "3,4;3,2;3,1", "3,4;3,2;3,1;2,1"}) {
    EXPECT_THAT(error_in([&] { Dragonfly::from(parameters); }), HasSubstr("such as 3,4;3,2;3,1;2")) << parameters;
  }
  EXPECT_THAT(error_in([] { Dragonfly::from("3,1;1,1;2,1;2"); }), HasSubstr("3 groups and 2 routers"));
  for (const char* parameters : {"", "4;4", "4,-1", "1e7"}) {
    EXPECT_THAT(error_in([&] { Torus::from(parameters); }), HasSubstr("such as 4,4,2")) << parameters;
  }
}

TEST(Backbone, IsThatOfASwitch) {
  EXPECT_EQ(backbone_of(Topology(SingleSwitch{})), nullptr);
  EXPECT_EQ(backbone_of(Topology(Torus{{4}})), nullptr);
  Topology topology = SingleSwitch{Backbone{1e10, 1e-6}};
  ASSERT_NE(backbone_of(topology), nullptr);
  backbone_of(topology)->latency_s = 2e-6;
  EXPECT_EQ(backbone_of(topology)->latency_s, 2e-6);
}

}  // namespace
}  // namespace hplcast::core
