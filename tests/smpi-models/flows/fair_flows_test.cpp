// Flows in classes, against a simulation that takes each flow for itself.

#include "smpi-models/flows/fair_flows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hplcast/core/random_stream.hpp"
#include "tests/smpi-models/flows/fluid.hpp"

namespace hplcast::smpi_models {
namespace {

using tests::FluidFlow;

constexpr double resolution_s = 1e-12;
constexpr double never = std::numeric_limits<double>::infinity();

/// Flows of both simulations.
class Pair {
 public:
  explicit Pair(std::vector<double> capacities) : capacities_(std::move(capacities)) {
    for (const double capacity : capacities_) flows_.add_link(capacity);
  }

  FairFlows::Route add_route(const std::vector<std::size_t>& links, double penalty = 1) {
    routes_.push_back(links);
    return flows_.add_route(std::vector<FairFlows::Link>(links.begin(), links.end()), penalty);
  }

  void add(double begin_s, double bytes, FairFlows::Route route, double limit = 1e30) {
    const auto name = static_cast<std::uint32_t>(expected_.size());
    flows_.begin(begin_s, {route, bytes, limit, 1, name});
    expected_.push_back({begin_s, bytes, limit, routes_[route]});
  }

  /// From event to event.
  std::vector<double> ends_s() {
    std::vector<double> ends(expected_.size(), never);
    std::vector<std::uint32_t> ended;
    earliest_s_.assign(expected_.size(), 0);
    for (double now = flows_.next_s(); now < never; now = flows_.next_s()) {
      for (std::uint32_t name = 0; name < ends.size(); ++name)
        if (ends[name] == never) earliest_s_[name] = std::max(earliest_s_[name], flows_.earliest_end_s(name, now));
      ended.clear();
      flows_.advance(now, ended);
      for (const std::uint32_t name : ended) ends.at(name) = now;
    }
    return ends;
  }

  void expect_equal_ends() {
    const std::vector<double> ends = ends_s();
    const std::vector<double> expected = fluid_ends_s(expected_, capacities_);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_LE(earliest_s_[i], ends[i] + 2 * resolution_s) << "flow " << i;
      EXPECT_NEAR(ends[i], expected[i], 1e-9 * (expected[i] - expected_[i].begin_s) + resolution_s) << "flow " << i;
    }
  }

 private:
  std::vector<double> capacities_;
  FairFlows flows_{resolution_s};
  std::vector<std::vector<std::size_t>> routes_;
  std::vector<FluidFlow> expected_;
  std::vector<double> earliest_s_;  // the largest of what was said of each
};

/// Links of five hosts, up and down, and a backbone that some routes take.
void expect_fluid(std::uint64_t seed, bool on_a_grid) {
  core::RandomStream random({seed, core::stream_message, 0, 0});
  constexpr std::size_t hosts = 5;
  std::vector<double> capacities(2 * hosts, 1e10);
  capacities.push_back(3e10);
  Pair pair(capacities);
  std::vector<FairFlows::Route> routes;
  for (std::size_t from = 0; from < hosts; ++from)
    for (std::size_t to = 0; to < hosts; ++to) {
      if (from == to) continue;
      std::vector<std::size_t> links{from, hosts + to};
      if (from < 3) links.push_back(2 * hosts);
      routes.push_back(pair.add_route(links));
    }
  for (int i = 0; i < 400; ++i) {
    double begin_s = 1e-3 * random.uniform();
    double bytes = std::exp(std::log(1e1) + random.uniform() * std::log(1e6));
    if (on_a_grid) {
      begin_s = 1e-5 * std::floor(begin_s / 1e-5);
      bytes = std::pow(10, std::floor(std::log10(bytes)));
    }
    const double limits[] = {1e30, 1e10, 2e9, 1e9};
    pair.add(begin_s, bytes, routes.at(static_cast<std::size_t>(random.uniform() * static_cast<double>(routes.size()))),
             limits[static_cast<std::size_t>(random.uniform() * 4)]);
  }
  pair.expect_equal_ends();
}

/// So many hosts that a part of the flows is enough for most events: neighbours in rings, some others far away.
TEST(FairFlows, EndWhenEachFlowForItselfWouldBetweenManyHosts) {
  constexpr std::size_t hosts = 40;
  for (const std::uint64_t seed : {1, 2, 3}) {
    core::RandomStream random({seed, core::stream_message, 1, 0});
    Pair pair(std::vector<double>(2 * hosts, 1e10));
    std::vector<FairFlows::Route> routes;
    for (const std::size_t distance : {1, 2, 17})
      for (std::size_t from = 0; from < hosts; ++from)
        routes.push_back(pair.add_route({from, hosts + (from + distance) % hosts}));
    for (int i = 0; i < 1500; ++i) {
      const double bytes = 1e5 * (1 + std::floor(3 * random.uniform()));
      const double limits[] = {1e30, 1e10, 3e9};
      pair.add(1e-3 * random.uniform(), bytes, routes.at(random.below(routes.size())), limits[random.below(3)]);
    }
    pair.expect_equal_ends();
  }
}

TEST(FairFlows, ShareALinkByTheirPenalties) {
  Pair pair({1e10});
  const FairFlows::Route light = pair.add_route({0}, 1);
  const FairFlows::Route heavy = pair.add_route({0}, 3);
  pair.add(0, 3e9, light);
  pair.add(0, 1e9, heavy);
  // 7.5e9 and 2.5e9 bytes/s.
  for (const double end_s : pair.ends_s()) EXPECT_NEAR(end_s, 0.4, resolution_s);
}

TEST(FairFlows, MoveMoreThanLinksCarryIfTheyGainOnIt) {
  FairFlows flows(resolution_s);
  const FairFlows::Route route = flows.add_route({flows.add_link(1e10)}, 1);
  flows.begin(0, {route, 2e10, 2e10, 2, 0});
  flows.begin(0, {route, 1e10, 1e10, 1, 1});
  std::vector<std::uint32_t> ended;
  flows.advance(flows.next_s(), ended);  // their begin
  EXPECT_NEAR(flows.next_s(), 2, resolution_s);
  flows.advance(flows.next_s(), ended);
  EXPECT_EQ(ended, (std::vector<std::uint32_t>{0, 1}));
}

TEST(FairFlows, WithoutLinksOnlyLimitsCount) {
  Pair pair({1e10});
  const FairFlows::Route route = pair.add_route({});
  pair.add(1, 1e9, route, 1e9);
  pair.add(1.5, 1e9, route, 1e9);
  EXPECT_EQ(pair.ends_s(), (std::vector<double>{2, 2.5}));
}

TEST(FairFlows, EndWhenEachFlowForItselfWould) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) expect_fluid(seed, false);
}

TEST(FairFlows, EndWhenEachFlowForItselfWouldWhereManyBeginAndEndAtOnce) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) expect_fluid(seed, true);
}

}  // namespace
}  // namespace hplcast::smpi_models
