// HPL on hosts of several kinds, and between groups of hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/topology.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class Kinds : public testing::SimulatedCluster {
 protected:
  /// The cluster with so many hosts, ranks per host, and kinds of hosts.
  void set_hosts(const std::string& names, int cores, std::vector<core::HostKind> kinds) {
    request_.cluster = transformed(request_.cluster, {{"ranks-per-node", std::to_string(cores)}});
    core::Hosts::Values values = request_.cluster.hosts.values();
    values.names = names;
    values.kinds = std::move(kinds);
    request_.cluster.hosts = core::Hosts::make(values);
    for (auto& [name, model] : request_.cluster.kernels)
      model = core::KernelModel::make(model.level(), model.cluster_law());
  }

  core::HostKind kind(const std::string& name, const std::string& hosts) {
    const core::Hosts::Values& all = request_.cluster.hosts.values();
    return {name, hosts, all.cores, all.cpus, all.rank_to_cpu, all.memory_bytes, 1};
  }

  void set_parameters(long long N, int NB, int P, int Q) {
    request_.parameters.N = N;
    request_.parameters.NB = NB;
    request_.parameters.P = P;
    request_.parameters.Q = Q;
  }

  double time_s(SimulationMode mode) {
    request_.mode = mode;
    return predict(request_).time_s;
  }
};

TEST_F(Kinds, ThatAreAlikeGiveTheTimeOfOneKindToTheLastDigit) {
  set_hosts("node-[1-6]", 4, {});
  set_parameters(1500, 64, 4, 5);
  request_.cluster.detours = {
      core::DetourSource::make({"tick", core::PeriodicDetours{0.004, {}}, 1, core::ConstantDuration{2e-5}})};
  for (const SimulationMode mode : {SimulationMode::exact, SimulationMode::fast}) {
    set_hosts("node-[1-6]", 4, {});
    const double one_s = time_s(mode);
    set_hosts("node-[1-6]", 4, {kind("a", "node-[2,5]"), kind("b", "node-3")});
    EXPECT_EQ(time_s(mode), one_s);
  }
}

/// dgemm alone costs something, the same on all cores but those of `slow`.
core::KernelModel only_product(double s_per_product, int slow_host, double slower) {
  const auto law = [](double s) {
    return core::PiecewiseLaw(
        core::DurationLaw::make(core::Polynomial::make({{1, 1, 1}}, {s}), {}, core::NoiseFamily::none));
  };
  return core::KernelModel::make("M1", law(s_per_product), {{slow_host, 0, law(slower * s_per_product)}});
}

/// Products m n k of the updates of a process column when all rows are on one process: to the right of each panel it
/// has every Q-th block of columns. HPL has the right-hand side as column N.
double products_of_column(int N, int NB, int Q, int column) {
  double sum = 0;
  for (int panel = 0; panel < N; panel += NB) {
    const int rows = N - std::min(N, panel + NB), k = std::min(NB, N - panel);
    for (int at = panel + NB; at <= N; ++at)
      if (at / NB % Q == column) sum += static_cast<double>(rows) * k;
  }
  return sum;
}

/// One host of three ranks, then a slow one of one rank: nothing else costs time, so the run takes at least the work of
/// the slow rank. Everybody waits for it, so that it takes no more than that and all products inside of panels, N^2
/// NB/4, a quarter of which are slow.
TEST_F(Kinds, TakeTheTimeOfTheWorkOfTheSlowest) {
  set_hosts("fast,slow", 3, {});
  core::HostKind slow = kind("slow", "slow");
  slow.cores = slow.cpus = 1;
  slow.rank_to_cpu = {};
  core::Hosts::Values hosts = request_.cluster.hosts.values();
  hosts.cpus = 1;
  hosts.rank_to_cpu = {};
  hosts.kinds = {slow};
  request_.cluster.hosts = core::Hosts::make(hosts);
  constexpr double s_per_product = 1e-9;
  constexpr int N = 2000, NB = 25, Q = 4;
  request_.cluster.kernels = {{"dgemm", only_product(s_per_product, 1, 4)}};
  request_.cluster.power.reset();
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e15;
  network.local.latency_s = 1e-15;
  network.remote = network.local;
  request_.cluster.network = core::NetworkModel::make(network);
  set_parameters(N, NB, 1, Q);
  const double least_s = 4 * s_per_product * products_of_column(N, NB, Q, Q - 1);
  const double mixed_s = time_s(SimulationMode::exact);
  EXPECT_GT(mixed_s, (1 - 1e-9) * least_s);
  EXPECT_LT(mixed_s, least_s + s_per_product * (4 + 3) / 4 * N * N * NB / 4);  // 1.6 % more; seen: 0.8 %
  request_.cluster.kernels["dgemm"] = only_product(s_per_product, 1, 1);
  EXPECT_LT(time_s(SimulationMode::exact), 0.35 * mixed_s) << "without a slow host";
}

TEST_F(Kinds, WaitForSlowerLinks) {
  set_hosts("node-[1-4]", 1, {});
  set_parameters(1000, 100, 2, 2);
  request_.noise = false;
  const double before_s = time_s(SimulationMode::exact);
  core::HostKind slow = kind("slow", "node-4");
  slow.link_share = 0.01;
  set_hosts("node-[1-4]", 1, {slow});
  const double after_s = time_s(SimulationMode::exact);
  // Rank 3 sends and receives a quarter of the panels and rows of U: at least half of N^2 elements, once.
  const double bytes_per_s = request_.cluster.network.values().remote->link_bytes_per_s();
  EXPECT_GT(after_s - before_s, 0.5 * 8 * 1000.0 * 1000 / 4 / (0.01 * bytes_per_s));
}

/// One card as near to all CPUs is as none, to the last digit; striped over all sizes, two are as links and messages of
/// twice the rate, but for the envelope of messages: half of 16 bytes at 12 GB/s, of messages of microseconds.
TEST_F(Kinds, RailsAreAsOneCardOrAsOneOfTheirSum) {
  set_hosts("node-[1-8]", 2, {});
  set_parameters(1200, 60, 4, 4);
  request_.noise = false;
  const auto with = [&](std::optional<core::Rails> rails, double rate) {
    core::ClusterModel cluster = request_.cluster;
    core::NetworkModel::Values network =
        transformed(cluster, {{"scale-bandwidth", core::shortest(rate)}}).network.values();
    network.rails = std::move(rails);
    std::swap(cluster, request_.cluster);
    request_.cluster.network = core::NetworkModel::make(network);
    const std::pair times(time_s(SimulationMode::exact), time_s(SimulationMode::fast));
    std::swap(cluster, request_.cluster);
    return times;
  };
  const int cpus = request_.cluster.hosts.most_cpus();
  const auto one = with({}, 1), twice = with({}, 2);
  EXPECT_EQ(with(core::equal_rails(1, cpus), 1), one);
  core::Rails striped = core::equal_rails(2, cpus);
  striped.use = core::Rails::Use::striped;
  const auto found = with(striped, 1);
  std::cout << "HPL on 16 ranks: one card " << one.first << " s, two striped " << found.first
            << " s, twice the bandwidth " << twice.first << " s; fast " << one.second << ", " << found.second << ", "
            << twice.second << '\n';
  EXPECT_NEAR(found.first, twice.first, 1e-3 * twice.first);
  EXPECT_NEAR(found.second, twice.second, 1e-3 * twice.second);
  EXPECT_LT(found.first, 0.999 * one.first) << "a test in which it matters";
}

/// The fast mode computes the exchanges of panel factorisations: they must know who is far from whom.
TEST_F(Kinds, FastModeKnowsGroupsOfHosts) {
  set_hosts("node-[1-8]", 1, {});
  set_parameters(1200, 60, 8, 1);
  request_.noise = false;
  const double inside_s = time_s(SimulationMode::exact);
  core::NetworkModel::Values network = request_.cluster.network.values();
  network.topology = core::HostGroups{{0, 1, 0, 1, 0, 1, 0, 1}, 2e-5, 1};
  request_.cluster.network = core::NetworkModel::make(network);
  const double exact_s = time_s(SimulationMode::exact);
  EXPECT_GT(exact_s, 1.5 * inside_s) << "a test in which it matters";
  // docs/measurements/fast-mode.md: errors of fast mode.
  EXPECT_NEAR(time_s(SimulationMode::fast), exact_s, 0.01 * exact_s);
}

}  // namespace
}  // namespace hplcast::study
