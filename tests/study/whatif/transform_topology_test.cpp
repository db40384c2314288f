#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/whatif/dahu_like.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using core::ClusterModel;

TEST(TransformTopology, MakesTheParametersOfSimGrid) {
  const auto parameters = [](const core::ClusterModel& c) { return core::parameters_of(c.network.values().topology); };
  const auto kind = [](const core::ClusterModel& c) { return core::kind_of(c.network.values().topology); };
  EXPECT_EQ(parameters(with("fat-tree", "8:4:2")), "2;8,4;1,4;1,2");
  EXPECT_EQ(parameters(transformed(with("fat-tree", "8:4:2"), {{"top-switches", "3"}})), "2;8,4;1,3;1,2");
  EXPECT_EQ(parameters(with("torus", "4x4x2")), "4,4,2");
  EXPECT_EQ(parameters(with("torus", "1x8x4x1")), "8,4");
  EXPECT_STREQ(kind(with("dragonfly", "2,4;2,2;4,1;2")), "dragonfly");
  EXPECT_STREQ(kind(transformed(with("torus", "8x4"), {{"single-switch", "yes"}})), "single_switch");
  EXPECT_THROW(with("torus", "5x5"), core::DomainError);
  EXPECT_EQ(parameters(with("fat-tree", "5:2")), "2;5,7;1,2;1,1");  // the last with two hosts
  EXPECT_THROW(with("fat-tree", "32:2"), core::DomainError);
  EXPECT_THROW(with("dragonfly", "2,4;2,2;4,1;3"), core::DomainError);
  EXPECT_THROW(with("top-switches", "2"), core::DomainError);
}

TEST(TransformTopology, AnotherNumberOfHostsBeginsWithASingleSwitch) {
  const ClusterModel torus = with("torus", "8x4");
  EXPECT_THAT(tests::error_in([&] {
                transformed(torus, {{"remove-nodes", "2"}, {"torus", "5x6"}});
              }),
              ::testing::HasSubstr("hint: begin with the transformation single-switch, then"));
  EXPECT_EQ(transformed(torus, {{"single-switch", "yes"}, {"remove-nodes", "2"}, {"torus", "5x6"}}).hosts.count(), 30);
}

TEST(TransformTopology, HostsStayInTheirGroups) {
  ClusterModel cluster = with("remove-nodes", "28:slowest");
  core::NetworkModel::Values network = cluster.network.values();
  network.topology = core::HostGroups{{0, 1, 1, 0}, 1e-6, 0.9};
  cluster.network = core::NetworkModel::make(network);
  const auto groups = [](const ClusterModel& changed) {
    return std::get<core::HostGroups>(changed.network.values().topology);
  };
  const std::string second = cluster.hosts.names()[1];
  EXPECT_EQ(groups(transformed(cluster, {{"remove-hosts", second}})).groups, (std::vector<unsigned>{0, 1, 0}));
  const core::HostGroups more = groups(transformed(cluster, {{"add-nodes", "2"}, {"scale-latency", "2"}}));
  ASSERT_EQ(more.groups.size(), 6U);
  EXPECT_EQ(more.groups[4], more.groups[5]) << "two copies of one host";
  EXPECT_EQ(more.extra_latency_s, 5e-7);
}

TEST(TransformTopology, RoutesAreAdaptiveOrLeadAroundFailedLinks) {
  const auto routing = [](const ClusterModel& cluster) { return *core::routing_of(cluster.network.values().topology); };
  const ClusterModel tree =
      transformed(with("fat-tree", "8:4:2"), {{"routing", "adaptive"}, {"fail-links", "0,1;3,2"}});
  EXPECT_TRUE(routing(tree).adaptive);
  EXPECT_EQ(routing(tree).failed_links, (std::vector<std::pair<unsigned, unsigned>>{{0, 1}, {3, 2}}));
  const core::Routing of_three = routing(transformed(tree, {{"top-switches", "3"}}));
  EXPECT_TRUE(of_three.adaptive);
  EXPECT_EQ(of_three.failed_links, routing(tree).failed_links);
  EXPECT_THROW(transformed(tree, {{"top-switches", "2"}}), core::DomainError) << "a link of a switch that is gone";
  EXPECT_FALSE(routing(transformed(tree, {{"routing", "static"}})).adaptive);
  EXPECT_TRUE(routing(transformed(with("dragonfly", "4,1;2,1;4,1;1"), {{"routing", "adaptive"}})).adaptive);
  EXPECT_THROW(with("routing", "adaptive"), core::DomainError);
  EXPECT_THROW(with("fail-links", "0,1"), core::DomainError);
  EXPECT_THROW(transformed(tree, {{"fail-links", "4,0"}}), core::DomainError);
  for (const char* bad : {"0", "0,x", "-1,0", "0.5,1", "0,1;"})
    EXPECT_THROW(transformed(tree, {{"fail-links", bad}}), core::Error) << bad;
  EXPECT_THROW(transformed(tree, {{"routing", "minimal"}}), TransformationFormError);
}

TEST(TransformTopology, HostsHaveSeveralRails) {
  const auto rails = [](const ClusterModel& cluster) { return cluster.network.values().rails; };
  const ClusterModel two = with("rails", "2");
  ASSERT_TRUE(rails(two));
  EXPECT_EQ(rails(two)->near, (std::vector<std::vector<int>>{{0}, {1}}));
  EXPECT_EQ(rails(two)->use, core::Rails::Use::bound);
  EXPECT_EQ(rails(with("rails", "4"))->near, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  const ClusterModel striped = transformed(two, {{"rails-use", "striped"}});
  EXPECT_EQ(rails(striped)->use, core::Rails::Use::striped);
  EXPECT_EQ(rails(striped)->striped_from_bytes, static_cast<double>(two.network.values().detached_bytes));
  EXPECT_EQ(rails(transformed(striped, {{"rails-use", "bound"}}))->striped_from_bytes, 0);
  EXPECT_FALSE(rails(transformed(striped, {{"rails", "1"}})));
  EXPECT_THROW(with("rails", "3"), core::DomainError) << "rails of unequal count";
  EXPECT_THROW(with("rails", "0"), core::DomainError);
  EXPECT_THROW(with("rails-use", "striped"), core::DomainError);
  EXPECT_THROW(transformed(two, {{"rails-use", "both"}}), TransformationFormError);
  EXPECT_THROW(transformed(two, {{"torus", "4x4x2"}}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
