#include "hplcast/fit/pair_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;

constexpr double inside_s = 1e-6, noise_s = 5e-9;

/// All ordered pairs of hosts on switches of these sizes; `between_s` more between two switches.
std::vector<PairMeasurement> switches(const std::vector<int>& sizes, double between_s, unsigned seed,
                                      double sd_s = noise_s) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, sd_s);
  std::vector<int> of;
  for (std::size_t s = 0; s < sizes.size(); ++s)
    of.insert(of.end(), static_cast<std::size_t>(sizes[s]), static_cast<int>(s));
  std::vector<PairMeasurement> pairs;
  for (std::size_t i = 0; i < of.size(); ++i)
    for (std::size_t j = 0; j < of.size(); ++j)
      if (i != j)
        pairs.push_back({"n" + std::to_string(i), "n" + std::to_string(j),
                         inside_s + (of[i] == of[j] ? 0 : between_s) + noise(random), 1e10});
  return pairs;
}

std::vector<std::size_t> sizes_of(const PairTopology& topology) {
  std::vector<std::size_t> sizes;
  for (const auto& group : topology.groups) sizes.push_back(group.size());
  return sizes;
}

TEST(PairTopology, FindsTheSwitchesAndWhatIsBetweenThem) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const PairTopology found = fit_pair_topology(switches({9, 7, 4}, 0.1e-6, seed));
    EXPECT_THAT(sizes_of(found), ElementsAre(9, 7, 4)) << seed;
    // 127 pairs between groups and 63 inside, each the mean of two measurements: 5 standard errors.
    EXPECT_NEAR(found.between_s - found.within_s, 0.1e-6,
                5 * noise_s / std::sqrt(2.0) * std::sqrt(1.0 / 127 + 1.0 / 63))
        << seed;
    EXPECT_TRUE(found.slow_hosts.empty()) << seed;
  }
}

TEST(PairTopology, TellsASlowHostFromAGroupOfItsOwn) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::vector<PairMeasurement> pairs = switches({8, 7}, 0.1e-6, seed);
    for (PairMeasurement& one : pairs)
      if (one.source == "n3" || one.destination == "n3") one.latency_s += 0.3e-6;
    const PairTopology found = fit_pair_topology(pairs);
    EXPECT_THAT(sizes_of(found), ElementsAre(8, 7)) << seed;
    EXPECT_NEAR(found.between_s - found.within_s, 0.1e-6,
                5 * noise_s / std::sqrt(2.0) * std::sqrt(1.0 / 56 + 1.0 / 49));
    ASSERT_EQ(found.slow_hosts.size(), 1U) << seed;
    EXPECT_EQ(found.slow_hosts[0].host, "n3");
    EXPECT_NEAR(found.slow_hosts[0].latency_s, 0.3e-6, 5 * noise_s / std::sqrt(2.0 * 14) * 1.25) << "a median of 14";
  }
}

// With latencies beside the nearest one always tried, 3 of 30 such switches were two.
TEST(PairTopology, OfFewHostsAndASlowOneIsOneGroup) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::vector<PairMeasurement> pairs = switches({5}, 0, seed, 20e-9);
    for (PairMeasurement& one : pairs)
      if (one.source == "n1" || one.destination == "n1") one.latency_s += 0.3e-6;
    const PairTopology found = fit_pair_topology(pairs);
    EXPECT_THAT(sizes_of(found), ElementsAre(5)) << seed;
    ASSERT_EQ(found.slow_hosts.size(), 1U) << seed;
    EXPECT_EQ(found.slow_hosts[0].host, "n1");
  }
}

/// Hosts of these names that wait 2 us for each other, on one switch.
core::ClusterModel cluster_of(const std::string& names) {
  core::ClusterModel cluster;
  cluster.name = "c";
  cluster.hosts = core::Hosts::make({names, 4, 1, {}, 0});
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-6;
  network.local.cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 2e-6, 1e-10}, {1e5, 3e-6, 1e-10}});
  network.remote = network.local;
  cluster.network = core::NetworkModel::make(network);
  return cluster;
}

TEST(PairTopology, BecomesTheTopologyOfACluster) {
  std::vector<PairMeasurement> pairs = switches({5, 3}, 0.5e-6, 1);
  for (PairMeasurement& one : pairs)
    if ((one.source < "n5") != (one.destination < "n5")) one.bandwidth_bytes_per_s *= 0.8;
  const PairTopology found = fit_pair_topology(pairs);
  EXPECT_NEAR(found.bandwidth_share, 0.8, 1e-9);
  // A part of the hosts, in another order.
  core::ClusterModel cluster = with_groups(cluster_of("n7,n0,n[1-6]"), found);
  const auto& groups = std::get<core::HostGroups>(cluster.network.values().topology);
  EXPECT_THAT(groups.groups, ElementsAre(1, 0, 0, 0, 0, 0, 1, 1));
  EXPECT_NEAR(groups.extra_latency_s, 0.5e-6, 5 * noise_s);
  EXPECT_NEAR(groups.bandwidth_share, 0.8, 1e-9);
  // Nine of ten messages were measured between groups: those inside take less than the line says.
  cluster = with_groups(cluster_of("n[0-7]"), found, 0.9);
  const auto& segments = cluster.network.scope(core::Scope::remote).cost(core::MessageCost::transfer).segments();
  EXPECT_NEAR(segments[0].intercept_s, 2e-6 - 0.9 * (found.between_s - found.within_s), 1e-15);
  EXPECT_NEAR(segments[1].intercept_s, 3e-6 - 0.9 * (found.between_s - found.within_s), 1e-15);
  // One switch explains these, or all hosts of the cluster are on one of two.
  const PairTopology one = fit_pair_topology(switches({8}, 0, 1));
  EXPECT_TRUE(std::holds_alternative<core::SingleSwitch>(with_groups(cluster, one).network.values().topology));
  EXPECT_TRUE(
      std::holds_alternative<core::SingleSwitch>(with_groups(cluster_of("n[0-4]"), found).network.values().topology));
}

TEST(PairTopology, LeavesNoCostBelowZero) {
  const PairTopology found = fit_pair_topology(switches({5, 3}, 0.5e-6, 1));
  core::ClusterModel cluster = cluster_of("n[0-7]");
  core::NetworkModel::Values network = cluster.network.values();
  network.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 0.1e-6, 1e-10}, {1e5, 3e-6, 1e-10}});
  cluster.network = core::NetworkModel::make(network);
  cluster = with_groups(cluster, found, 0.9);
  const auto& segments = cluster.network.scope(core::Scope::remote).cost(core::MessageCost::transfer).segments();
  EXPECT_EQ(segments[0].intercept_s, 0);
  EXPECT_NEAR(segments[1].intercept_s, 3e-6 - 0.9 * (found.between_s - found.within_s), 1e-15);
}

TEST(PairTopology, HasBandwidthsIfAllPairsHave) {
  std::vector<PairMeasurement> pairs = switches({5, 3}, 0.5e-6, 1);
  for (PairMeasurement& one : pairs)
    if (one.source + one.destination == "n2n6" || one.source + one.destination == "n6n2") one.bandwidth_bytes_per_s = 0;
  const PairTopology found = fit_pair_topology(pairs);
  EXPECT_THAT(sizes_of(found), ElementsAre(5, 3));
  EXPECT_TRUE(found.bandwidth.empty());
  EXPECT_EQ(found.bandwidth_share, 1);
}

TEST(PairTopology, OfOtherHostsOrForATreeIsRefused) {
  const PairTopology found = fit_pair_topology(switches({5, 3}, 0.5e-6, 1));
  EXPECT_THAT(error_in([&] { with_groups(cluster_of("n[0-9]"), found); }),
              HasSubstr("no messages of 2 of the 10 hosts of cluster c: n8 ...; measured were those of n0"));
  core::ClusterModel tree = cluster_of("n[0-7]");
  core::NetworkModel::Values network = tree.network.values();
  network.topology = core::Torus{{8}};
  tree.network = core::NetworkModel::make(network);
  EXPECT_THAT(error_in([&] { with_groups(tree, found); }), HasSubstr("single-switch yes"));
}

/// Four hosts on two switches as `hplcast-measure-mpi --pattern all-pairs` writes them: 2 us inside, 3 us between, 10
/// GB/s and in one of five repetitions ten times as long.
std::string messages_of_two_switches() {
  std::string text =
      "order,rank,peer_rank,pairs,operation,scope,size_bytes,duration_s,start_s,host,peer,background,error\n";
  int order = 0;
  for (int repetition = 0; repetition < 5; ++repetition)
    for (const double bytes : {1., 1e6})
      for (int a = 0; a < 4; ++a)
        for (int b = a + 1; b < 4; ++b) {
          const double one_way_s = (a / 2 == b / 2 ? 2e-6 : 3e-6) + (bytes > 1 ? bytes / 1e10 : 0);
          const std::vector<std::string> fields = {std::to_string(order++),
                                                   std::to_string(a),
                                                   std::to_string(b),
                                                   "2",
                                                   "pingpong",
                                                   "remote",
                                                   core::shortest(bytes),
                                                   core::shortest(2 * one_way_s * (repetition == 3 ? 10 : 1)),
                                                   "0",
                                                   "n" + std::to_string(a),
                                                   "n" + std::to_string(b),
                                                   "none",
                                                   ""};
          for (std::size_t i = 0; i < fields.size(); ++i) text += (i > 0 ? "," : "") + fields[i];
          text += '\n';
        }
  return text;
}

TEST(PairTopology, ReadsMediansOfTheRoundTripsOfACampaign) {
  std::istringstream in(messages_of_two_switches());
  const std::vector<PairMeasurement> pairs = read_pairs(in, "01-pairs.csv");
  ASSERT_EQ(pairs.size(), 6U);
  for (const PairMeasurement& pair : pairs) {
    const bool inside = (pair.source < "n2") == (pair.destination < "n2");
    EXPECT_NEAR(pair.latency_s, inside ? 2e-6 : 3e-6, 1e-15);
    EXPECT_NEAR(pair.bandwidth_bytes_per_s, 1e6 / (1e-4 + pair.latency_s), 1);
  }
  std::istringstream none("order,rank,peer_rank,operation,size_bytes,duration_s,host,peer\n0,0,1,send,1,1e-6,a,b\n");
  EXPECT_THAT(error_in([&] { read_pairs(none, "x.csv"); }), HasSubstr("no round trips (operation pingpong)"));
  std::istringstream local(
      "order,rank,peer_rank,operation,size_bytes,duration_s,host,peer\n0,0,7,pingpong,1,2e-6,a,a\n");
  EXPECT_EQ(read_pairs(local, "x.csv").front().destination, "a:7");
}

TEST(PairTopology, SaysThatOneSwitchExplainsNoise) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const PairTopology found = fit_pair_topology(switches({16}, 0, seed));
    EXPECT_THAT(sizes_of(found), ElementsAre(16)) << seed;
    EXPECT_TRUE(found.slow_hosts.empty()) << seed;
    EXPECT_TRUE(found.slow_pairs.empty()) << seed;
  }
}

TEST(PairTopology, TellsASlowHostAndASlowPairFromAGroup) {
  std::vector<PairMeasurement> pairs = switches({8, 8}, 0.2e-6, 3);
  for (PairMeasurement& one : pairs) {
    if (one.source == "n3" || one.destination == "n3") one.latency_s += 0.1e-6;
    if (one.source == "n5" || one.destination == "n5") one.bandwidth_bytes_per_s *= 0.9;
    if ((one.source == "n1" && one.destination == "n9") || (one.source == "n9" && one.destination == "n1"))
      one.latency_s += 0.3e-6;
  }
  const PairTopology found = fit_pair_topology(pairs);
  EXPECT_THAT(sizes_of(found), ElementsAre(8, 8));
  ASSERT_EQ(found.slow_hosts.size(), 2U);
  EXPECT_EQ(found.slow_hosts[0].host, "n3");
  EXPECT_NEAR(found.slow_hosts[0].latency_s, 0.1e-6, 5 * noise_s);
  EXPECT_EQ(found.slow_hosts[1].host, "n5");
  EXPECT_NEAR(found.slow_hosts[1].bandwidth_share, 0.9, 1e-9);
  ASSERT_EQ(found.slow_pairs.size(), 1U);
  EXPECT_EQ(found.slow_pairs[0].first + found.slow_pairs[0].second, "n1n9");
  EXPECT_NEAR(found.slow_pairs[0].latency_s, 0.3e-6, 5 * noise_s);
}

TEST(PairTopology, FindsTheTwoSwitchesAndTheSlowHostsOfAlaska) {
  HPLCAST_REFERENCE_FILE(data, "alaska/mpi");
  const auto of = [&](const char* build) {
    std::ifstream in(data / build / "nxnlatbw_np16_ppn1.out");
    return fit_pair_topology(read_pairs(in, build));
  };
  for (const auto& [build, difference_s] :
       {std::pair<const char*, double>("ib-gcc9-openmpi4-ucx", 0.14e-6), {"roce-gcc9-openmpi4-ucx", 0.69e-6}}) {
    const PairTopology found = of(build);
    ASSERT_THAT(sizes_of(found), ElementsAre(9, 7)) << build;
    EXPECT_THAT(found.groups[0], ElementsAre("0", "1", "2", "5", "7", "9", "12", "13", "14"));
    EXPECT_NEAR((found.between_s - found.within_s) / difference_s, 1, 0.2) << build;
    const core::ClusterModel cluster = with_groups(cluster_of("[0-15]"), found);
    const auto& groups = std::get<core::HostGroups>(cluster.network.values().topology);
    EXPECT_THAT(groups.groups, ElementsAre(0, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1));
    EXPECT_NEAR(groups.extra_latency_s / difference_s, 1, 0.2) << build;
    EXPECT_EQ(groups.bandwidth_share, 1) << "0.2 % less for messages that take 0.2 % longer";
  }
  const PairTopology ib = of("ib-gcc9-openmpi4-ucx");
  ASSERT_EQ(ib.slow_hosts.size(), 2U);
  EXPECT_EQ(ib.slow_hosts[0].host + " " + ib.slow_hosts[1].host, "5 9");
}

TEST(PairTopology, RefusesPairsThatLackOrMakeNoSense) {
  const auto read = [](const std::string& text) {
    std::istringstream in(text);
    return read_pairs(in, "p");
  };
  EXPECT_THAT(error_in([&] { read("a,b,1\n"); }), HasSubstr("p:1: found `a,b,1`"));
  EXPECT_THAT(error_in([&] { read("a,b,-1,0\n"); }), HasSubstr("without a latency or bandwidth above 0"));
  EXPECT_THAT(error_in([&] { read("a,b,1,5,12000\n"); }), HasSubstr("p:1: found `a,b,1,5,12000`")) << "1 us, 5 MB/s";
  EXPECT_THAT(
      error_in([&] { read("operation,rank,peer_rank,host,peer,size_bytes,duration_s\npingpong,0,1,a,b,1,-1\n"); }),
      HasSubstr("expected a number above 0"));
  EXPECT_THAT(error_in([&] { read("source,latency_s\na,1\n"); }), HasSubstr("destination"));
  EXPECT_EQ(read("src,dst,lat(us),bandwidth\n\n1,2,1.5,100 \n").size(), 1U);
  EXPECT_THAT(error_in([&] { fit_pair_topology(read("a,b,1,1\n")); }), HasSubstr("pairs of 2 hosts"));
  EXPECT_THAT(error_in([&] { fit_pair_topology(read("a,b,1,1\nb,c,1,1\n")); }),
              HasSubstr("1 of 3 pairs of hosts have no latency"));
}

}  // namespace
}  // namespace hplcast::fit
