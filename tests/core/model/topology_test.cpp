#include "hplcast/core/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

TEST(Topology, IsWrittenAsItIsRead) {
  const std::vector<std::pair<std::string, std::string>> all = {{"single_switch", ""},
                                                                {"fat_tree", "2;4,8;1,2;1,3"},
                                                                {"dragonfly", "3,4;3,2;3,1;2"},
                                                                {"torus", "4,4,2"},
                                                                {"host_groups", ""}};
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

TEST(Topology, DimensionsOfOneJoinNothing) {
  EXPECT_EQ(Torus::from("2,1,1").parameters(), "2");
  EXPECT_EQ(Torus::from("1,4,1,2").parameters(), "4,2");
  EXPECT_EQ(Torus::from("1,1").parameters(), "1");
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
              HasSubstr("single_switch, fat_tree, dragonfly, torus, host_groups"));
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

using Ways = std::vector<std::size_t>;

TEST(Ways, OfAFatTreeLeadOverOtherHostsOfTheLeafSwitch) {
  FatTree tree = FatTree::from("2;4,3;1,3;1,1");
  EXPECT_EQ(ways_between(tree, 0, 3), Ways{3}) << "one leaf switch";
  // Host 5 is at place 1 of leaf 1, over top switch 5 % 3 = 2. Hosts 4 and 7 both lead over top switch 1.
  EXPECT_EQ(ways_between(tree, 0, 5), (Ways{5, 6, 7}));
  tree.routing.failed_links = {{0, 2}};
  EXPECT_EQ(ways_between(tree, 0, 5), (Ways{6, 7}));
  EXPECT_EQ(ways_between(tree, 5, 0), (Ways{0, 1})) << "the same link the other way: to 2 of leaf 0 over top switch 2";
  EXPECT_EQ(ways_between(tree, 9, 5), (Ways{5, 6, 7})) << "another leaf switch";
  EXPECT_EQ(ways_between(SingleSwitch{}, 1, 2), Ways{2});
}

TEST(Ways, BetweenGroupsOfADragonflyLeadOverOneMoreGroup) {
  Dragonfly fly = Dragonfly::from("4,1;2,1;4,1;2");  // 16 hosts per group
  EXPECT_EQ(ways_between(fly, 0, 15), Ways{15}) << "one group";
  // From group 1 to group 3, over group 0 or 2: the first host of the router that group 1 is linked to.
  EXPECT_EQ(ways_between(fly, 16, 48), (Ways{48, 32 + 2, 0 + 2}));
  EXPECT_EQ(ways_between(fly, 17, 49), (Ways{49, 0 + 2, 32 + 2})) << "others begin with another group";
  fly.routing.failed_links = {{3, 1}, {0, 3}};
  EXPECT_EQ(ways_between(fly, 16, 48), Ways{32 + 2});
}

TEST(Ways, OfImpossibleRoutesAreRefused) {
  const auto error_of = [](Topology topology, const Routing& routing) {
    *routing_of(topology) = routing;
    return error_in([&] { check_routes(topology); });
  };
  const FatTree tree = FatTree::from("2;4,3;1,3;1,1");
  EXPECT_THAT(error_of(tree, {false, {{3, 0}}}), HasSubstr("failed link` is 3,0; expected a leaf switch of 0 to 2"));
  EXPECT_THAT(error_of(tree, {true, {{0, 0}, {0, 1}, {1, 2}}}), HasSubstr("a way left from leaf switch 1 to 0"));
  EXPECT_THAT(error_of(FatTree::from("1;4;3;1"), {true, {}}), HasSubstr("hosts with one link"));
  EXPECT_THAT(error_of(FatTree::from("3;2,2,2;1,2,2;1,1,1"), {false, {{0, 0}}}), HasSubstr("is 3; expected 2"));
  const Dragonfly fly = Dragonfly::from("3,1;1,1;3,1;1");
  EXPECT_THAT(error_of(fly, {false, {{0, 3}}}), HasSubstr("two different groups of 0 to 2"));
  EXPECT_THAT(error_of(fly, {false, {{1, 1}}}), HasSubstr("two different groups"));
  EXPECT_THAT(error_of(fly, {true, {{0, 1}, {1, 2}}}), HasSubstr("a third group that is joined to both"));
  check_routes(HostGroups{{0, 1}, 1e-7, 1});
  EXPECT_THAT(error_in([] { check_routes(HostGroups{{0, 1}, -1e-7, 1}); }), HasSubstr("extra_latency_s"));
  EXPECT_THAT(error_in([] { check_routes(HostGroups{{0, 1}, 0, 1.1}); }), HasSubstr("bandwidth_share"));
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
