// Flows in classes, against a simulation that takes each flow for itself.

#include "smpi-models/flows/fair_flows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"
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
    routes_.push_back({links, penalty});
    return flows_.add_route(std::vector<FairFlows::Link>(links.begin(), links.end()), penalty);
  }

  void add(double begin_s, double bytes, FairFlows::Route route, double limit = 1e30, double gain = 1) {
    const auto name = static_cast<std::uint32_t>(expected_.size());
    flows_.begin(begin_s, {route, bytes, limit, gain, name});
    expected_.push_back({begin_s, bytes, limit, routes_[route].links, routes_[route].penalty, gain});
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
    flows_.check_end();
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
  struct Route {
    std::vector<std::size_t> links;
    double penalty;
  };
  FairFlows flows_{resolution_s, true};
  std::vector<Route> routes_;
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

/// Few links, routes over any of them, and every penalty, gain and limit: what no platform of ours has, either.
TEST(FairFlows, EndWhenEachFlowForItselfWouldOnRandomRoutes) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    core::RandomStream random({seed, core::stream_message, 2, 0});
    const auto one_of = [&](const std::vector<double>& values) { return values[random.below(values.size())]; };
    std::vector<double> capacities(3 + random.below(8));
    for (double& capacity : capacities) capacity = one_of({1e9, 2e9, 1e10});
    Pair pair(capacities);
    std::vector<FairFlows::Route> routes;
    for (std::size_t i = 0; i < 8; ++i) {
      std::vector<std::size_t> links;
      for (std::size_t link = 0; link < capacities.size(); ++link)
        if (random.uniform() < 0.3) links.push_back(link);
      if (links.empty()) links.push_back(random.below(capacities.size()));
      routes.push_back(pair.add_route(links, one_of({1, 1, 2, 0.3})));
    }
    for (int i = 0; i < 40; ++i)
      pair.add(one_of({0, 1e-3, 2e-3 * random.uniform()}), one_of({1e5, 1e6, 1e6 * random.uniform()}),
               routes[random.below(routes.size())], one_of({1e30, 5e9, 1e9, 3e8}), one_of({1, 1, 1.5}));
    pair.expect_equal_ends();
  }
}

/// Each flow crosses the link that holds it up, and the one that holds up the next: what the first loses the second
/// gains, the third loses ... one more at each try, until the last try takes all of them.
TEST(FairFlows, AreSharedOutAnewByTheLastTryWhereOneChangeGoesThroughAllOfThem) {
  constexpr std::size_t length = 24;
  std::vector<double> rates;
  for (std::size_t i = 0; i < length; ++i) rates.push_back(20e8 * static_cast<double>(i + 1));
  std::vector<double> capacities{rates.front()};
  for (std::size_t i = 1; i < length; ++i) capacities.push_back(rates[i] + rates[i - 1]);
  capacities.push_back(2 * rates.back());
  Pair pair(capacities);
  for (std::size_t i = 0; i < length; ++i) pair.add(0, 1e-2 * rates[i], pair.add_route({i, i + 1}));
  pair.add(5e-3, 1e6, pair.add_route({0}), 5e8);
  pair.expect_equal_ends();
}

TEST(FairFlowsDeathTest, EndTheSimulationWhereRatesAreNotFair) {
  const std::vector<std::uint32_t> first{0}, both{0, 1};
  const std::vector<double> capacities{10, 4};
  require_max_min(capacities, {{&first, 1, 6, 100}, {&both, 1, 4, 100}});
  require_max_min(capacities, {{&first, 1, 2, 2}, {&both, 1, 4, 100}});
  const auto bug = ::testing::ExitedWithCode(static_cast<int>(core::ExitCode::bad_input));
  EXPECT_EXIT(require_max_min(capacities, {{&first, 1, 7, 100}, {&both, 1, 4, 100}}), bug, "link 0: it carries more");
  EXPECT_EXIT(require_max_min(capacities, {{&first, 1, 5, 4}, {&both, 1, 4, 100}}), bug,
              "flows 0: it exceeds its limit");
  EXPECT_EXIT(require_max_min(capacities, {{&first, 1, 5, 100}, {&both, 1, 4, 100}}), bug, "flows 0: without a bottle");
  // Its link is full, but gives another more.
  EXPECT_EXIT(require_max_min(capacities, {{&first, 1, 7, 100}, {&both, 1, 3, 100}}), bug, "flows 1: without a bottle");
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
