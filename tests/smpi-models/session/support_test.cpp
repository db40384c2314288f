#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <set>

#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/platform/network_costs.hpp"
#include "smpi-models/session/session.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::smpi_models {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

TEST(SampledExchanges, AreThoseOfEveryPartInTheFirstPanelsThenOfOnePartInTurn) {
  const SampledExchanges sampled = {2, 8, 3};
  const auto sampled_of = [&](int panel) {
    std::vector<int> indices;
    for (int index = 0; index < 33; ++index) {
      if (sampled.is_sampled(panel, 33, index)) indices.push_back(index);
    }
    return indices;
  };
  const std::vector<int> all = {0, 1, 8, 9, 16, 17, 24, 25};
  for (const int panel : {0, 1, 2}) EXPECT_EQ(sampled_of(panel), all);
  EXPECT_EQ(sampled_of(3), (std::vector<int>{0, 1, 24, 25}));
  EXPECT_EQ(sampled_of(4), (std::vector<int>{8, 9}));
  EXPECT_EQ(sampled_of(5), (std::vector<int>{16, 17}));
  EXPECT_EQ(sampled_of(6), sampled_of(3));
  EXPECT_EQ(sampled.run_length(3, 33), 2);
}

// What is noted behind them holds the ranks together at the end of a panel.
TEST(SampledExchanges, AreNeverTheLastOfAPanel) {
  for (int columns = 1; columns <= 300; ++columns)
    for (int panel = 0; panel < 8; ++panel) {
      const SampledExchanges sampled;
      EXPECT_FALSE(sampled.is_sampled(panel, columns, columns - 1)) << columns;
      const int last_part = sampled.part(columns - 1, columns);
      int run = 0;
      for (int index = last_part * sampled.part_length(columns); index < columns; ++index)
        run += sampled.is_sampled(0, columns, index) ? 1 : 0;
      EXPECT_EQ(run, sampled.run_length(last_part, columns)) << columns;
    }
}

TEST(SampledExchanges, OfWidePanelsAreInEightParts) {
  const SampledExchanges sampled;
  for (const int columns : {128, 256, 257, 290, 300, 1024}) {
    EXPECT_EQ(sampled.part(columns - 1, columns), std::min(8, columns / 32) - 1) << columns;
  }
}

TEST(ModelTable, OfAnotherVersionIsRefused) {
  hplcast_model_table table{};
  table.version = HPLCAST_MODEL_TABLE_VERSION + 1;
  EXPECT_THAT(error_in([&] { model_from_table(table); }), HasSubstr("hplcast emit"));
}

TEST(CallCounts, LeaveOutWhatWasNotCalled) {
  CallCounts counts;
  counts.kernels[0] = {2, 1, 0.5, 16};
  core::SimulationResult result;
  add_counts(result, counts);
  ASSERT_EQ(result.kernels.size(), 1U);
  EXPECT_EQ(result.kernels.at("dgemm").calls, 2U);
  core::CountsAtPanels panels;
  add_counts(panels, {counts, counts});
  EXPECT_EQ(panels.size(), 4U);
  EXPECT_EQ(panels.at("kernels/dgemm/flop"), (std::vector<double>{16, 16}));
}

TEST(PanelCounts, AreThoseBeforeEachMark) {
  PanelCounts counts;
  counts.set_measured_bytes(100);
  std::size_t early = 0, late = 0;  // places of two ranks
  counts.kernel(early, core::KernelId::dgemm).calls = 1;
  early = counts.begin_panel(-1);
  early = counts.begin_panel(0);
  counts.kernel(early, core::KernelId::dgemm).calls = 10;
  counts.add_message(late, HPLCAST_MPI_SEND, 101);  // the other one is behind: before its first mark
  late = counts.begin_panel(-1);
  early = counts.begin_panel(1);
  counts.kernel(early, core::KernelId::dgemm).calls = 100;
  const std::vector<CallCounts> marks = counts.until_marks();
  ASSERT_EQ(marks.size(), 3U);
  const auto dgemm = [](const CallCounts& one) { return one.kernels[0].calls; };
  EXPECT_EQ(dgemm(marks[0]), 1U);
  EXPECT_EQ(dgemm(marks[1]), 1U);
  EXPECT_EQ(dgemm(marks[2]), 11U);
  EXPECT_EQ(dgemm(counts.total()), 111U);
  EXPECT_EQ(marks[0].messages[HPLCAST_MPI_SEND].calls, 1U);
  EXPECT_EQ(marks[0].messages[HPLCAST_MPI_SEND].outside_range, 1U);
}

/// The time that SimGrid gives a message alone: latency, then bytes at the rate, both as the factors say.
double simulated_s(const NetworkCosts& costs, const core::NetworkModel& network, core::Scope scope, double size_bytes,
                   const MessageName& name = {}) {
  const core::MessageFlow flow = costs.flow(scope, size_bytes, &name);
  const double link = network.scope(scope).link_bytes_per_s();
  // A flow is never faster than its links, but a factor above 1 makes its bytes lighter.
  const double rate = std::min(flow.bandwidth_bytes_per_s, costs.bandwidth_factor(scope, flow) * link);
  return flow.latency_s + (size_bytes + core::smpi_envelope_bytes) / rate;
}

double alone_s(const NetworkCosts& costs, core::Scope scope, double size_bytes) {
  return NetworkCosts::time_alone_s(costs.flow(scope, size_bytes, nullptr), size_bytes + core::smpi_envelope_bytes);
}

TEST(NetworkCosts, FlowsTakeTheTransferOfEveryScope) {
  const core::NetworkModel network = tests::example_cluster(false).network;
  const NetworkCosts costs(network, 1, true);
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    for (const double size : {0.0, 1.0, 8000.0, 8001.0, 64000.0, 1e8, 5e9}) {
      const double expected = network.scope(scope).cost(core::MessageCost::transfer).mean_s(size);
      // 1e-12: a dozen roundings.
      EXPECT_NEAR(simulated_s(costs, network, scope, size), expected, 1e-12 * expected) << size;
      EXPECT_NEAR(alone_s(costs, scope, size), expected, 1e-12 * expected) << size;
    }
  }
}

TEST(NetworkCosts, LinesThatStartBelowZeroOrFallAreStillExact) {
  auto values = tests::example_cluster(false).network.values();
  values.local.cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 1e-6, 0}, {1000, -1e-7, 2e-10}, {1e6, 3e-4, -1e-11}});
  values.remote->cost(core::MessageCost::transfer) = values.local.cost(core::MessageCost::transfer);
  values.remote->bandwidth_bytes_per_s = 1e13;
  const core::NetworkModel network = core::NetworkModel::make(values);
  const NetworkCosts costs(network, 1, true);
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    for (const double size : {1.0, 1000.0, 1e5, 1e7}) {
      const double expected = values.local.cost(core::MessageCost::transfer).mean_s(size);
      EXPECT_NEAR(simulated_s(costs, network, scope, size), expected, 1e-12 * expected) << size;
    }
  }
}

TEST(NetworkCosts, AFlowHasTheRateOfItsLineBelowTheCapacityOfTheLink) {
  auto values = tests::example_cluster(false).network.values();
  values.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 1e-6, 2e-10}, {1000, 1e-5, 1e-11}, {1e6, 0, 1e-11}});
  values.remote->capacity = core::LinkCapacity{1e10};
  const NetworkCosts costs(core::NetworkModel::make(values), 1, true);
  EXPECT_DOUBLE_EQ(costs.flow(core::Scope::remote, 100, nullptr).bandwidth_bytes_per_s, 5e9);
  // A line faster than the link: the rate is the link's, the time of a message alone that of the line ...
  EXPECT_DOUBLE_EQ(costs.flow(core::Scope::remote, 1e5, nullptr).bandwidth_bytes_per_s, 1e10);
  EXPECT_DOUBLE_EQ(alone_s(costs, core::Scope::remote, 1e5), 1e-5 + 1e-6);
  // ... but no message is faster than the link can.
  EXPECT_DOUBLE_EQ(alone_s(costs, core::Scope::remote, 1e7), (1e7 + core::smpi_envelope_bytes) / 1e10);
}

core::NetworkModel noisy_network() {
  auto values = tests::example_cluster(false).network.values();
  values.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 0, 1e-10, 0, {{0.25, 1e-6, 0}, {0.75, 3e-6, 1e-7}}}});
  values.remote->cost(core::MessageCost::recv) = core::SegmentedLaw::make({{0, 2e-6, 0, 1e-7, {}}});
  return core::NetworkModel::make(values);
}

TEST(NetworkCosts, EveryMessageDrawsByItsName) {
  const core::NetworkModel network = noisy_network();
  const NetworkCosts costs(network, 7, true);
  double sum = 0;
  constexpr int messages = 4000;
  for (int i = 0; i < messages; ++i) {
    const MessageName name{3, 5, 11, static_cast<std::uint64_t>(i)};
    const double time = simulated_s(costs, network, core::Scope::remote, 1000, name);
    EXPECT_EQ(time, simulated_s(costs, network, core::Scope::remote, 1000, name));
    sum += time;
  }
  const double expected = network.values().remote->cost(core::MessageCost::transfer).mean_s(1000);
  // The mean of 4000 draws with a standard deviation below 0.9 us: five standard errors.
  EXPECT_NEAR(sum / messages, expected, 5 * 0.9e-6 / std::sqrt(messages));
  const auto draw_of = [&](const MessageName& name) {
    return costs.overhead_s(core::MessageCost::recv, core::Scope::remote, 1000, &name);
  };
  std::set<double> draws;
  for (const MessageName& name : std::initializer_list<MessageName>{
           {3, 5, 11, 0}, {4, 5, 11, 0}, {3, 6, 11, 0}, {3, 5, 12, 0}, {3, 5, 11, 1}, {3, 5, 11, 0, true}}) {
    draws.insert(draw_of(name));
  }
  EXPECT_EQ(draws.size(), 6u) << "every part of the name counts";
}

TEST(NetworkCosts, NoiseMayExceedTheLinkButOnlyAroundItsMean) {
  auto values = tests::example_cluster(false).network.values();
  values.remote->cost(core::MessageCost::transfer) = core::SegmentedLaw::make({{0, 0, 1e-10, 1e-5, {}}});
  values.remote->capacity = core::LinkCapacity{1e10};
  const core::NetworkModel network = core::NetworkModel::make(values);
  const NetworkCosts costs(network, 7, true);
  double sum = 0;
  constexpr int messages = 4000;
  for (std::uint64_t i = 0; i < messages; ++i) {
    sum += simulated_s(costs, network, core::Scope::remote, 1e6, {0, 1, 2, i});
  }
  // Five standard errors around the time that the link needs: cut off below, the mean would be 4 us more.
  EXPECT_NEAR(sum / messages, (1e6 + core::smpi_envelope_bytes) / 1e10, 5 * 1e-5 / std::sqrt(messages));
}

TEST(NetworkCosts, WithoutNoiseEveryMessageTakesItsExpectedTime) {
  const NetworkCosts costs(noisy_network(), 7, false);
  EXPECT_FALSE(costs.draws());
  const MessageName name;
  EXPECT_EQ(costs.overhead_s(core::MessageCost::recv, core::Scope::remote, 100, &name), 2e-6);
}

}  // namespace
}  // namespace hplcast::smpi_models
