// n equal messages at once over one link: total throughput min(n / slope, capacity).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/imported.hpp"
#include "tests/smpi-models/flows/flow_script.hpp"
#include "tests/smpi-models/flows/fluid.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::smpi_models {
namespace {

using core::MessageCost;
using core::Scope;
using tests::FlowScript;
using tests::lone_message;
using tests::LoneMessage;
using tests::ScriptedMessage;

constexpr int ranks_per_host = 64;

/// One of every segment. Near its end, where the bytes count for more than the latency.
std::vector<double> sizes_of(const core::SegmentedLaw& law) {
  std::vector<double> sizes;
  const std::vector<core::Segment>& segments = law.segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double first = segments[i].min_bytes;
    const double end = i + 1 < segments.size() ? segments[i + 1].min_bytes : 2 * first + 1e6;
    sizes.push_back(std::floor(first + 0.8 * (end - first)));
  }
  return sizes;
}

/// Two hosts and the links between them.
struct Way {
  core::Topology topology;
  int hosts;  // in all; messages go between the first two
  int links;  // between those
};

const std::vector<std::pair<std::string, Way>> ways = {
    {"single_switch", {{}, 2, 2}},
    {"fat_tree", {core::FatTree{{2, 2}, {1, 2}, {1, 1}}, 4, 2}},
    {"fat_tree_far", {core::FatTree{{1, 2}, {1, 1}, {1, 1}}, 2, 4}},
    {"fat_tree_of_three_ways", {core::FatTree{{4}, {3}, {1}}, 4, 2}},
    {"torus", {core::Torus{{2, 2}}, 4, 1}},
    {"dragonfly", {core::Dragonfly{{2, 1}, {1, 1}, {2, 1}, 2}, 8, 2}},
    {"dragonfly_far", {core::Dragonfly{{1, 1}, {1, 1}, {2, 1}, 1}, 2, 3}},
};

/// Cases of n equal messages, one after the other in one simulation, and what is expected of them.
class Cases {
 public:
  Cases(core::NetworkModel::Values network, const Way& way, std::string name) : name_(std::move(name)) {
    network.topology = way.topology;
    if (!network.remote) network.remote = network.local;
    tests::make_calls_free(network.local);
    tests::make_calls_free(*network.remote);
    network.growing_probes = false;
    network_ = core::NetworkModel::make(network);
    way_ = way;
  }

  /// Both directions, one at a time and both at once, and inside a host.
  void add_all() {
    const std::vector<int> counts = {1, 2, 3, 4, 8, 16, 32, 64};
    for (const double size : sizes_of(network_.scope(Scope::remote).cost(MessageCost::transfer))) {
      for (const int n : counts) {
        for (const auto& directions : std::vector<std::vector<int>>{{0}, {1}, {0, 1}}) add_remote(size, n, directions);
      }
    }
    for (const double size : sizes_of(network_.scope(Scope::local).cost(MessageCost::transfer))) {
      for (const int n : counts) {
        if (2 * n <= ranks_per_host) add_local(size, n);
      }
    }
  }

  void check() const {
    tests::Simulation simulation{tests::network_cluster(way_.hosts, ranks_per_host, network_.values())};
    simulation.ranks = 2 * ranks_per_host;
    // Durations from 1 us on are compared to 1e-6 of the transfer: the usual 1e-12 s would be as much as that.
    simulation.options = {"--cfg=surf/precision:1e-15"};
    const std::vector<double> received = script_.received_s(simulation, "link_sharing_" + name_);
    for (std::size_t i = 0; i < received.size(); ++i) {
      const Expected& expected = expected_[i];
      const double took_s = received[i] - script_.messages()[i].start_s;
      // 1e-6: the exactness that throughput is asked for; and a dozen roundings of a clock of up to 30 s.
      EXPECT_NEAR(took_s, expected.latency_s + expected.transfer_s, 1e-6 * expected.transfer_s + 5e-14)
          << name_ << ": " << expected.what << ", message " << script_.messages()[i].source << " to "
          << script_.messages()[i].destination << " of " << script_.messages()[i].bytes << " bytes";
      if (::testing::Test::HasFailure()) return;  // one of thousands is enough to read
    }
  }

 private:
  struct Expected {
    double latency_s;
    double transfer_s;
    std::string what;
  };

  void add(const ScriptedMessage& message, const Expected& expected) {
    script_.add(message);
    expected_.push_back(expected);
    last_s_ = std::max(last_s_, expected.latency_s + expected.transfer_s);
  }

  void end_case() {
    next_s_ += 1.5 * last_s_ + 1e-6;
    last_s_ = 0;
  }

  void add_remote(double size, int n, const std::vector<int>& directions) {
    const core::ScopeModel& scope = network_.scope(Scope::remote);
    const LoneMessage one = lone_message(scope, size);
    // The line holds for the route that was measured, of two links; others have latency in proportion.
    const Expected expected = {one.latency_s * way_.links / 2,
                               one.wire_bytes * std::max(1 / one.rate_bytes_per_s, n / scope.link_bytes_per_s()),
                               std::to_string(n) + (directions.size() == 2 ? " each way" : " one way")};
    for (const int direction : directions) {
      for (int i = 0; i < n; ++i) {
        const int ends[] = {i, ranks_per_host + i};
        ScriptedMessage message{ends[direction], ends[1 - direction], size, next_s_};
        add(message, expected);
      }
    }
    end_case();
  }

  void add_local(double size, int n) {
    const core::ScopeModel& scope = network_.scope(Scope::local);
    Expected expected = {scope.cost(MessageCost::transfer).mean_s(size), 0, std::to_string(n) + " inside a host"};
    if (scope.capacity) {
      const LoneMessage one = lone_message(scope, size);
      expected.latency_s = one.latency_s;
      expected.transfer_s = one.wire_bytes * std::max(1 / one.rate_bytes_per_s, n / scope.link_bytes_per_s());
    }
    for (int i = 0; i < n; ++i) add({i, n + i, size, next_s_}, expected);
    end_case();
  }

  std::string name_;
  core::NetworkModel network_;
  Way way_;
  FlowScript script_;
  std::vector<Expected> expected_;
  double next_s_ = 1e-3;
  double last_s_ = 0;
};

void check_everywhere(const core::NetworkModel::Values& network, const std::string& name) {
  for (const auto& [way_name, way] : ways) {
    Cases cases(network, way, name + "_" + way_name);
    cases.add_all();
    cases.check();
  }
}

/// The networks of the reference data whose list is models/`cluster`/network_models.json, each on one way, in rotation:
/// networks made for the purpose are tested on all.
void check_published(const std::filesystem::path& file, const std::string& cluster) {
  std::ifstream list(file);
  auto next = ways.begin();
  for (const nlohmann::json& entry : nlohmann::json::parse(list)) {
    const std::string id = entry.at("id");
    std::ifstream in(file);
    const auto& [way_name, way] = *next;
    Cases cases(core::read_network_table(in, file.string(), id).values(), way, cluster + "_" + id + "_" + way_name);
    cases.add_all();
    cases.check();
    if (++next == ways.end()) next = ways.begin();
  }
}

TEST(LinkSharing, OfAllPublishedNetworksIsExact) {
  HPLCAST_REFERENCE_FILE(models, "models");
  std::size_t files = 0;
  for (const auto& cluster : std::filesystem::directory_iterator(models)) {
    const std::filesystem::path file = cluster.path() / "network_models.json";
    if (!std::filesystem::exists(file)) continue;
    check_published(file, cluster.path().filename().string());
    ++files;
  }
  EXPECT_GT(files, 0U) << "no network_models.json in a folder of " << models;
}

core::ScopeModel scope_of(double bandwidth_bytes_per_s, double latency_s, std::vector<core::Segment> transfer) {
  core::ScopeModel scope;
  scope.bandwidth_bytes_per_s = bandwidth_bytes_per_s;
  scope.latency_s = latency_s;
  scope.cost(MessageCost::transfer) = core::SegmentedLaw::make(std::move(transfer));
  return scope;
}

/// A fast network whose single flows do not fill the link, with thresholds inside its segments.
TEST(LinkSharing, OfSlowFlowsOnAFastLinkIsExact) {
  core::NetworkModel::Values network;
  network.remote = scope_of(4e9, 1e-6, {{0, 2e-6, 1e-9}, {10000, 6e-6, 1 / 3.3e9}, {1e6, 2e-5, 1 / 4e9}});
  network.remote->capacity = core::LinkCapacity{12.5e9};
  network.local = scope_of(8e9, 3e-7, {{0, 4e-7, 2e-10}, {1e5, 2e-6, 1.25e-10}});
  network.local.capacity = core::LinkCapacity{20e9};
  network.async_small_bytes = 9000;
  network.detached_bytes = 5e5;
  check_everywhere(network, "slow_flows");
}

/// The capacity that was measured is below what the line of a single flow says: such a line gives way.
TEST(LinkSharing, OfLinesFasterThanTheLinkIsExact) {
  core::NetworkModel::Values network;
  network.remote = scope_of(1e10, 1e-6, {{0, 1e-6, 1 / 5e10}, {64000, 0, 1 / 1e10}, {1e6, 1e-4, 1 / 3e10}});
  network.remote->capacity = core::LinkCapacity{9e9};
  network.local = scope_of(1e10, 1e-6, {{0, 0, 1 / 9e9}});
  check_everywhere(network, "fast_lines");
}

/// Lines that start below zero, fall, or say nothing of bytes.
TEST(LinkSharing, OfLinesOfAnySignIsExact) {
  core::NetworkModel::Values network;
  network.remote = scope_of(1e9, 1e-5, {{0, 2e-5, 0}, {10000, 5e-5, -1e-9}, {20000, -1e-5, 4e-9}, {1e5, -1e-4, 2e-9}});
  network.local = scope_of(1e9, 1e-6, {{0, 2e-6, -1e-12}, {1e5, -2e-5, 1e-9}, {1e6, -5e-4, 2e-9}});
  network.local.capacity = core::LinkCapacity{3e9};
  check_everywhere(network, "any_sign");
}

}  // namespace
}  // namespace hplcast::smpi_models
