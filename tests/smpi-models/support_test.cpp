#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "core/errors_in.hpp"
#include "network_costs.hpp"
#include "platforms/example_cluster.hpp"
#include "settings.hpp"
#include "statistics.hpp"
#include "table_model.hpp"

namespace hplcast::smpi_models {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

Settings settings_of(std::map<std::string, std::string> variables) {
  return read_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Settings, HaveDefaults) {
  const Settings settings = settings_of({});
  EXPECT_EQ(settings.seed, 1U);
  EXPECT_TRUE(settings.noise);
  EXPECT_TRUE(settings.network_noise);
  EXPECT_EQ(settings.cluster_path, "");
}

TEST(Settings, AreReadFromTheEnvironment) {
  const Settings settings = settings_of({{"HPLCAST_SEED", "18446744073709551615"},
                                         {"HPLCAST_NOISE", "off"},
                                         {"HPLCAST_CLUSTER", "c.json"},
                                         {"HPLCAST_STATS", "s.json"}});
  EXPECT_EQ(settings.seed, 18446744073709551615U);
  EXPECT_FALSE(settings.noise);
  EXPECT_TRUE(settings.network_noise);
  EXPECT_EQ(settings.cluster_path, "c.json");
  EXPECT_EQ(settings.stats_path, "s.json");
  const RealExchanges real = settings_of({{"HPLCAST_REAL_EXCHANGES", "2/16/3"}}).real_exchanges;
  EXPECT_EQ(real.run, 2);
  EXPECT_EQ(real.period, 16);
  EXPECT_EQ(real.panels, 3);
}

TEST(RealExchanges, AreThoseOfEveryPartInTheFirstPanelsThenOfOnePartInTurn) {
  const RealExchanges real = {2, 8, 3};
  const auto real_of = [&](int panel) {
    std::vector<int> indices;
    for (int index = 0; index < 33; ++index) {
      if (real.is_real(panel, 33, index)) indices.push_back(index);
    }
    return indices;
  };
  const std::vector<int> all = {0, 1, 8, 9, 16, 17, 24, 25, 32};
  for (const int panel : {0, 1, 2}) EXPECT_EQ(real_of(panel), all);
  EXPECT_EQ(real_of(3), (std::vector<int>{0, 1, 24, 25}));
  EXPECT_EQ(real_of(4), (std::vector<int>{8, 9, 32}));
  EXPECT_EQ(real_of(5), (std::vector<int>{16, 17}));
  EXPECT_EQ(real_of(6), real_of(3));
  EXPECT_EQ(real.run_length(3, 33), 2);
  EXPECT_EQ(real.run_length(4, 33), 1) << "the last part is short";
}

TEST(RealExchanges, OfWidePanelsAreInEightParts) {
  const RealExchanges real;
  for (const int columns : {128, 256, 257, 290, 300, 1024}) {
    EXPECT_EQ(real.part(columns - 1, columns), std::min(8, columns / 32) - 1) << columns;
  }
}

TEST(Settings, RefuseNonsense) {
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_SEED", "-1"}}); }), HasSubstr("HPLCAST_SEED"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_SEED", "12x"}}); }), HasSubstr("HPLCAST_SEED"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_NOISE", "yes"}}); }), HasSubstr("HPLCAST_NOISE"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_POLLING", "no"}}); }), HasSubstr("wait or probe"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_MODE", "quick"}}); }), HasSubstr("fast or exact"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_REAL_EXCHANGES", "4/32"}}); }), HasSubstr("RUN/PERIOD/PANELS"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_REAL_EXCHANGES", "4/4/1"}}); }), HasSubstr("from 1 to 3"));
  EXPECT_THAT(error_in([] { settings_of({{"HPLCAST_REAL_EXCHANGES", "4/5/"}}); }), HasSubstr("an integer from 1"));
}

TEST(ModelTable, OfAnotherVersionIsRefused) {
  hplcast_model_table table{};
  table.version = HPLCAST_MODEL_TABLE_VERSION + 1;
  EXPECT_THAT(error_in([&] { model_from_table(table); }), HasSubstr("hplcast emit"));
}

TEST(Statistics, LeaveOutWhatWasNotCalled) {
  Statistics statistics;
  statistics.kernels[0] = {2, 1, 0.5, 16};
  statistics.times_s = {1.25};
  std::ostringstream out;
  write_statistics(out, statistics);
  EXPECT_THAT(out.str(), HasSubstr("\"dgemm\": {\n      \"calls\": 2"));
  EXPECT_THAT(out.str(), ::testing::Not(HasSubstr("dtrsm")));
  EXPECT_THAT(out.str(), HasSubstr("1.25"));
}

TEST(KernelFlop, CountsMultiplicationsAndAdditions) {
  EXPECT_EQ(kernel_flop(core::KernelId::dgemm, {3, 4, 5}), 120);
  EXPECT_EQ(kernel_flop(core::KernelId::dtrsm, {3, 4, 3}), 36);
  EXPECT_EQ(kernel_flop(core::KernelId::dlacpy, {3, 4, 1}), 0);
}

/// The time that SimGrid gives a message: latency, then bytes at the rate, both as the factors say.
double simulated_s(NetworkCosts& costs, const core::ScopeModel& scope, const MessagePath& path, double size_bytes) {
  const double wire = size_bytes + core::smpi_envelope_bytes;
  const double rate = costs.bandwidth_factor(path, wire) * scope.bandwidth_bytes_per_s;
  return costs.latency_factor(path, wire) * scope.latency_s + wire / rate;
}

TEST(NetworkCosts, FactorsGiveTheTransferOfEveryScope) {
  const core::NetworkModel network = tests::example_cluster(false).network;
  NetworkCosts costs(network, 2, 1, true);
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    for (const double size : {0.0, 1.0, 8000.0, 8001.0, 64000.0, 1e8, 5e9}) {
      const double expected = network.scope(scope).cost(core::MessageCost::transfer).mean_s(size);
      // 1e-12: a dozen roundings.
      EXPECT_NEAR(simulated_s(costs, network.scope(scope), {scope, 0}, size), expected, 1e-12 * expected) << size;
    }
  }
}

TEST(NetworkCosts, LinesThatStartBelowZeroOrFallAreStillExact) {
  auto values = tests::example_cluster(false).network.values();
  values.local.cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 1e-6, 0}, {1000, -1e-7, 2e-10}, {1e6, 3e-4, -1e-11}});
  const core::NetworkModel network = core::NetworkModel::make(values);
  NetworkCosts costs(network, 1, 1, true);
  for (const double size : {1.0, 1000.0, 1e5, 1e7}) {
    const double expected = values.local.cost(core::MessageCost::transfer).mean_s(size);
    EXPECT_NEAR(simulated_s(costs, values.local, {core::Scope::local, 0}, size), expected, 1e-12 * expected) << size;
  }
}

core::NetworkModel noisy_network() {
  auto values = tests::example_cluster(false).network.values();
  values.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 0, 1e-10, 0, {{0.25, 1e-6, 0}, {0.75, 3e-6, 1e-7}}}});
  values.remote->cost(core::MessageCost::recv) = core::SegmentedLaw::make({{0, 2e-6, 0, 1e-7, {}}});
  return core::NetworkModel::make(values);
}

TEST(NetworkCosts, EveryMessageDrawsOnceForLatencyAndBandwidth) {
  const core::NetworkModel network = noisy_network();
  NetworkCosts costs(network, 2, 7, true);
  NetworkCosts again(network, 2, 7, true);
  double sum = 0;
  constexpr int messages = 4000;
  for (int i = 0; i < messages; ++i) {
    const double time = simulated_s(costs, *network.values().remote, {core::Scope::remote, 1}, 1000);
    EXPECT_EQ(time, simulated_s(again, *network.values().remote, {core::Scope::remote, 1}, 1000));
    sum += time;
  }
  const double expected = network.values().remote->cost(core::MessageCost::transfer).mean_s(1000);
  // The mean of 4000 draws with a standard deviation below 0.9 us: five standard errors.
  EXPECT_NEAR(sum / messages, expected, 5 * 0.9e-6 / std::sqrt(messages));
}

TEST(NetworkCosts, WithoutNoiseEveryMessageTakesItsExpectedTime) {
  const core::NetworkModel network = noisy_network();
  NetworkCosts costs(network, 2, 7, false);
  EXPECT_EQ(costs.overhead_s(core::MessageCost::recv, {core::Scope::remote, 0}, 100), 2e-6);
}

}  // namespace
}  // namespace hplcast::smpi_models
