// Several cards per host: what messages over them take, against closed forms; what is measured of them and fitted is
// what was simulated.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "tests/smpi-models/flows/flow_script.hpp"

namespace hplcast::smpi_models::rails {
namespace {

using tests::FlowScript;

constexpr double link_bytes_per_s = 12.5e9, flow_bytes_per_s = 5e9, latency_s = 1.5e-6;
constexpr double rounding_s = 1e-10;
constexpr int ranks_per_cpu = 4, cpus = 2, ranks_per_host = ranks_per_cpu * cpus;

core::ClusterModel cluster_with(const std::optional<core::Rails>& rails, const core::Topology& topology = {},
                                int hosts = 2) {
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-7;
  core::ScopeModel remote;
  remote.bandwidth_bytes_per_s = flow_bytes_per_s;
  remote.capacity = core::LinkCapacity{link_bytes_per_s};
  remote.latency_s = latency_s;
  remote.cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, latency_s, 1 / flow_bytes_per_s}});
  network.remote = remote;
  network.async_small_bytes = network.detached_bytes = 1 << 30;  // nobody waits
  network.topology = topology;
  network.rails = rails;
  core::ClusterModel cluster = tests::network_cluster(hosts, ranks_per_host, network);
  core::Hosts::Values values = cluster.hosts.values();
  values.cpus = cpus;
  cluster.hosts = core::Hosts::make(values);
  return cluster;
}

core::Rails two_rails() {
  return core::equal_rails(2, cpus);
}

std::vector<double> ends_of(const FlowScript& script, const std::optional<core::Rails>& rails, const std::string& name,
                            const core::Topology& topology = {}, int hosts = 2) {
  tests::Simulation simulation{cluster_with(rails, topology, hosts)};
  simulation.ranks = hosts * ranks_per_host;
  simulation.settings.observation.checks = true;
  return script.received_s(simulation, "rails_" + name);
}

/// A message alone.
double alone_s(double bytes, double rate_bytes_per_s = flow_bytes_per_s) {
  return latency_s + bytes / flow_bytes_per_s +
         (bytes + core::smpi_envelope_bytes) * (1 / rate_bytes_per_s - 1 / flow_bytes_per_s);
}

/// All ranks of the first host send to those of the second.
FlowScript all_at_once(double bytes) {
  FlowScript script;
  for (int rank = 0; rank < ranks_per_host; ++rank) script.add({rank, ranks_per_host + rank, bytes, 0});
  return script;
}

/// Eight flows of 5 GB/s over 12.5 GB/s, or over two times that.
TEST(Rails, ThatAreBoundCarryAsMuchAsTheirLinksTogether) {
  const double bytes = 1e8;
  const auto total = [&](const std::optional<core::Rails>& rails, const std::string& name,
                         const core::Topology& topology = {}) {
    const std::vector<double> ends = ends_of(all_at_once(bytes), rails, name, topology);
    return ranks_per_host * bytes / *std::max_element(ends.begin(), ends.end()) / link_bytes_per_s;
  };
  core::Rails half = two_rails();
  half.cards[1].link_share = 0.5;
  const double one = total({}, "total_one"), two = total(two_rails(), "total_two"), uneven = total(half, "total_half");
  std::cout << "total of 8 pairs over the link of one card: one card " << one << ", two " << two
            << ", one of half the bandwidth " << uneven << '\n';
  constexpr double latency_and_envelope = 1e-4;  // 1.5 us of 32 ms
  EXPECT_NEAR(one, 1, latency_and_envelope);
  EXPECT_NEAR(two, 2, 2 * latency_and_envelope);
  EXPECT_NEAR(uneven, 1, latency_and_envelope) << "half of the bytes go over half a link";
  // Whole trees: the links between switches are not doubled, two of them to each top switch carry as much.
  EXPECT_NEAR(total(two_rails(), "total_tree", core::FatTree::from("2;1,2;1,2;1,1")), 1, latency_and_envelope);
}

TEST(Rails, ThatAreNearAndAlikeCostNothing) {
  FlowScript script;
  script.add({0, ranks_per_host + ranks_per_cpu, 1e6, 0});
  script.add({ranks_per_cpu, ranks_per_host, 100, 0});
  script.add({1, 2, 1e6, 0});  // inside of the host
  EXPECT_EQ(ends_of(script, two_rails(), "near"), ends_of(script, {}, "near_none"));
  EXPECT_EQ(ends_of(all_at_once(1e7), core::equal_rails(1, cpus), "one"), ends_of(all_at_once(1e7), {}, "one_none"))
      << "one card is as none";
}

TEST(Rails, ThatAreFarCostLatencyAndRateAtEachEnd) {
  core::Rails rails = core::equal_rails(1, cpus);
  rails.far = {{1, 0, 3e-7, 0.8}};
  FlowScript script;
  const int far = ranks_per_cpu, other = ranks_per_host;
  script.add({0, other, 1e6, 0});
  script.add({0, other + far, 1e6, 1});
  script.add({far, other + far, 1e6, 2});
  const std::vector<double> ends = ends_of(script, rails, "far");
  EXPECT_NEAR(ends[0], alone_s(1e6), rounding_s);
  EXPECT_NEAR(ends[1] - 1, alone_s(1e6, 0.8 * flow_bytes_per_s) + 3e-7, rounding_s);
  EXPECT_NEAR(ends[2] - 2, alone_s(1e6, 0.8 * flow_bytes_per_s) + 6e-7, rounding_s);
}

/// Long messages as parts over both cards; these share each of them with others.
TEST(Rails, ThatAreStripedDivideLongMessages) {
  core::Rails rails = two_rails();
  rails.use = core::Rails::Use::striped;
  rails.striped_from_bytes = 65536;
  rails.cards[1].link_share = 3;
  FlowScript script;
  script.add({0, ranks_per_host, 1e8, 0});
  script.add({0, ranks_per_host, 65535, 1});
  std::vector<double> ends = ends_of(script, rails, "striped");
  std::cout << "1e8 bytes over cards of 1 and 3: " << ends[0] / alone_s(1e8) << " of the time over one\n";
  EXPECT_NEAR(ends[0], alone_s(1e8, 4 * flow_bytes_per_s), rounding_s);
  EXPECT_NEAR(ends[1] - 1, alone_s(65535), rounding_s);
  // All ranks: 8 of 20 GB/s over 4 x 12.5.
  ends = ends_of(all_at_once(1e8), rails, "striped_all");
  for (const double end : ends)
    EXPECT_NEAR(end, alone_s(1e8, 4 * link_bytes_per_s / ranks_per_host), 1e-9 * end + rounding_s);
}

TEST(Rails, AreRefusedWhereSimGridMovesMessages) {
  tests::Simulation simulation{cluster_with(two_rails())};
  simulation.ranks = 2 * ranks_per_host;
  simulation.settings.diagnosis.own_flows = false;
  try {
    (void)all_at_once(1e6).received_s(simulation, "rails_of_simgrid");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("one card per host: SimGrid's flows and messages of SMPI do not know"));
  }
}

/// The step `rails` of a campaign on that cluster, of up to `most_pairs` per CPU: the turns that it measures,
/// simulated, and its two files read again.
std::vector<fit::CpuMessage> measured(const core::ClusterModel& cluster, long most_pairs = ranks_per_cpu) {
  std::vector<std::string> hosts;
  std::vector<int> cpu_of;
  for (int rank = 0; rank < 2 * ranks_per_host; ++rank) {
    hosts.push_back(rank < ranks_per_host ? "a" : "b");
    cpu_of.push_back(rank % ranks_per_host / ranks_per_cpu);
  }
  struct Row {
    bool one_way;
    calibration::MpiPair pair;
    double bytes, start_s;
    std::vector<std::size_t> messages;
  };
  std::vector<Row> rows;
  FlowScript script;
  double start_s = 0;
  constexpr double long_bytes = 4194304;
  for (const auto& [bytes, pairs] : {std::pair(1.0, 0L), std::pair(long_bytes, 0L), std::pair(long_bytes, most_pairs)})
    for (const calibration::MpiTurn& turn : calibration::turns_of_cpus(hosts, cpu_of, pairs)) {
      start_s += 1;
      for (const calibration::MpiPair& pair : turn) {
        Row& row = rows.emplace_back(Row{pairs > 0, pair, bytes, start_s, {}});
        row.messages.push_back(script.add({pair.initiator, pair.responder, bytes, start_s}));
        if (pairs == 0) row.messages.push_back(script.add({pair.responder, pair.initiator, bytes, start_s + 0.5}));
      }
    }
  tests::Simulation simulation{cluster};
  simulation.ranks = 2 * ranks_per_host;
  const std::vector<double> ends = script.received_s(simulation, "rails_measured");
  std::ostringstream files[2];
  for (std::ostringstream& file : files) file << "order,rank,peer_rank,pairs,operation,size_bytes,duration_s\n";
  for (const Row& row : rows) {
    double duration_s = 0;
    for (std::size_t i = 0; i < row.messages.size(); ++i)
      duration_s += ends[row.messages[i]] - row.start_s - 0.5 * static_cast<double>(i);
    files[row.one_way ? 0 : 1] << "0," << row.pair.initiator << ',' << row.pair.responder << ",1,"
                               << (row.one_way ? "one_way," : "pingpong,") << row.bytes << ','
                               << core::shortest(duration_s) << '\n';
  }
  std::vector<fit::CpuMessage> result;
  for (std::ostringstream& file : files) {
    std::istringstream in(file.str());
    fit::read_cpu_messages(in, "rails.csv", cpu_of, result);
  }
  return result;
}

/// Durations of a simulation without noise: rates of one pair to 0.1 % (the latency of the long message is that of the
/// short one, but for what its byte takes), totals by the latency in them, 1.5 us of 1.3 ms.
constexpr double exact = 0.002;

TEST(RailsFit, GivesBackTheRailsThatWereSimulated) {
  core::Rails truth = two_rails();
  truth.cards[1].link_share = 0.5;
  truth.cards[1].rate_share = 0.9;
  truth.cards[1].extra_latency_s = 2e-7;
  const core::ClusterModel cluster = cluster_with(truth);
  const fit::RailsFit found = fit::fit_rails(measured(cluster));
  std::cout << "found: " << found.text << '\n';
  ASSERT_TRUE(found.rails);
  EXPECT_EQ(found.rails->near, truth.near);
  EXPECT_TRUE(found.rails->far.empty());
  ASSERT_EQ(found.rails->cards.size(), 2U);
  EXPECT_EQ(found.rails->cards[0].link_share, 1);
  EXPECT_EQ(found.rails->cards[0].extra_latency_s, 0);
  EXPECT_NEAR(found.rails->cards[1].link_share, 0.5, exact);
  EXPECT_NEAR(*found.rails->cards[1].rate_share, 0.9, exact);
  EXPECT_NEAR(found.rails->cards[1].extra_latency_s, 2e-7, 1e-9);
  EXPECT_NEAR(found.link_bytes_per_s, link_bytes_per_s, exact * link_bytes_per_s);
}

/// One card near the second CPU, while the network was measured between first CPUs: the model is that of near ones.
TEST(RailsFit, FindsTheCpuThatIsFarFromTheOneCard) {
  core::Rails truth = core::equal_rails(1, cpus);
  truth.far = {{0, 0, 3e-7, 0.8}};
  const core::ClusterModel cluster = cluster_with(truth);
  const fit::RailsFit found = fit::fit_rails(measured(cluster));
  std::cout << "found: " << found.text << '\n';
  ASSERT_TRUE(found.rails);
  ASSERT_EQ(found.rails->cards.size(), 1U);
  ASSERT_EQ(found.rails->far.size(), 1U);
  EXPECT_EQ(found.rails->far[0].cpu, 0);
  EXPECT_NEAR(found.rails->far[0].extra_latency_s, 3e-7, 1e-9);
  EXPECT_NEAR(found.rails->far[0].rate_share, 0.8, exact);
  core::NetworkModel::Values as_measured = cluster_with({}).network.values();
  as_measured.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, latency_s + 6e-7, 1 / (0.8 * flow_bytes_per_s)}});
  const core::NetworkModel model = fit::with_rails(core::NetworkModel::make(as_measured), found);
  const core::Segment& near = model.scope(core::Scope::remote).cost(core::MessageCost::transfer).segments()[0];
  EXPECT_NEAR(near.intercept_s, latency_s, 2e-9);
  EXPECT_NEAR(near.slope_s_per_byte * flow_bytes_per_s, 1, exact);
}

TEST(RailsFit, SaysThatOneCardExplainsTheData) {
  const fit::RailsFit found = fit::fit_rails(measured(cluster_with({})));
  EXPECT_FALSE(found.rails);
  EXPECT_EQ(found.text, "one card, as near to all CPUs");
}

/// Two pairs of 5 GB/s do not fill 12.5: together they get as much over one card as over two.
TEST(RailsFit, DoesNotTellCardsThatAreNotFilled) {
  std::vector<fit::CpuMessage> rows = measured(cluster_with(two_rails()), 2);
  const fit::RailsFit found = fit::fit_rails(rows);
  EXPECT_FALSE(found.rails);
  EXPECT_THAT(found.text, testing::HasSubstr("2 pairs of CPU 0 do not fill a card"));
  rows.resize(4);
  EXPECT_THAT(fit::fit_rails(rows).text, testing::HasSubstr("not told"));
}

}  // namespace
}  // namespace hplcast::smpi_models::rails
