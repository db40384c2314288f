// What findings cost an HPL run.
#include "hplcast/study/history_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::error_in;

HistoryCheck check_of(const std::string& host, int cpu, double effect, const char* factor = "dgemm_gflops") {
  HistoryFinding one;
  one.place = {"", host, cpu};
  one.factor = factor;
  one.finding.effect = effect;
  one.finding.effect_error = 0.002;
  one.finding.open = true;
  HistoryCheck check;
  check.findings.push_back(one);
  return check;
}

TEST(GridOf, IsLargeAndThenSquare) {
  const auto text = [](int ranks) {
    const auto [P, Q] = grid_of(ranks);
    return std::to_string(P) + "x" + std::to_string(Q);
  };
  EXPECT_EQ(text(1), "1x1");
  EXPECT_EQ(text(64), "8x8");
  EXPECT_EQ(text(992), "31x32");
  EXPECT_EQ(text(31), "5x6");  // not 1x31
  EXPECT_EQ(text(3), "1x3");
}

class CostOfFindings : public study::testing::SimulatedCluster {
 protected:
  CostOptions options(int P, int Q) {
    CostOptions options;
    options.parameters.N = 1500;
    options.parameters.P = P;
    options.parameters.Q = Q;
    options.seeds = {1, 2};
    options.programs = request_.programs;
    return options;
  }
};

TEST_F(CostOfFindings, AgreesWithPredictionsMadeByHand) {
  const Cost cost = cost_of(check_of("node-2", 1, -0.2), request_.cluster, options(2, 4));
  // By hand: the law of the CPU, with coefficients of 1 / 0.8 times the size.
  core::ClusterModel slow = request_.cluster;
  core::KernelModel& dgemm = slow.kernels.at("dgemm");
  const core::DurationLaw law = dgemm.law(1, 1).pieces().front().law;
  std::vector<core::CpuLaw> laws;
  for (const core::CpuLaw& own : dgemm.overrides())
    if (own.host != 1 || own.cpu != 1) laws.push_back(own);
  laws.push_back({1, 1,
                  core::PiecewiseLaw(core::DurationLaw::make(core::scaled(law.mu(), 1.25),
                                                             core::scaled(law.sigma(), 1.25), law.noise()))});
  dgemm = core::KernelModel::make(dgemm.level(), dgemm.law(-1, -1), laws, dgemm.range());
  study::PredictionRequest request = request_;
  request.parameters = options(2, 4).parameters;
  for (const std::uint64_t seed : {1, 2}) {
    request.seed = seed;
    request.cluster = request_.cluster;
    EXPECT_EQ(cost.normal_gflops[seed - 1], study::predict(request).gflops);
    request.cluster = slow;
    EXPECT_NEAR(cost.now.gflops[seed - 1] / study::predict(request).gflops, 1, 1e-12);  // rounding of 1 / (1 - 0.2)
  }
}

TEST_F(CostOfFindings, SaysWhetherItPaysToLeaveAHostOut) {
  // All 32 cores of three hosts: without one there are two thirds of the ranks.
  core::ClusterModel three = transformed(request_.cluster, {{"remove-hosts", "node-[1-3,7-32]"}});
  const std::string host = three.hosts.names()[1];
  CostOptions all = options(6, 16);
  all.seeds = {1};
  all.parameters.N = 2000;
  all.parameters.NB = 32;
  // CPUs so slow that messages cost nothing: fewer ranks are fewer Gflop/s.
  const core::ClusterModel slow = with_cpu_speed(three, "", -1, 1e-4);
  const Cost cost = cost_of(check_of(host, 0, -0.1), slow, all);
  ASSERT_EQ(cost.hosts.size(), 1U);
  EXPECT_EQ(cost.hosts[0].what, "CPU 0 -10.0 %");
  EXPECT_EQ(cost.kept_kernels.size(), three.kernels.size() - 1);
  EXPECT_EQ(cost.hosts[0].without.parameters.P * cost.hosts[0].without.parameters.Q, 64);
  EXPECT_LT(cost.now.effect, 0);
  EXPECT_GT(cost.now.effect, -0.1);               // no more than if all CPUs were as slow
  EXPECT_LT(cost.hosts[0].without.effect, -0.1);  // a third of the ranks is gone
  EXPECT_FALSE(cost.hosts[0].pays_to_leave_out);
  EXPECT_EQ(cost.hosts[0].alone.gflops, cost.now.gflops);
  const Cost broken = cost_of(check_of(host, -1, -0.9), slow, all);
  EXPECT_TRUE(broken.hosts[0].pays_to_leave_out);
}

TEST_F(CostOfFindings, AHostThatCannotBeLeftOutIsTold) {
  // The matrix of 18 MB fits two hosts and not one of them.
  core::ClusterModel two = transformed(request_.cluster, {{"remove-hosts", "node-[3-32]"}});
  core::Hosts::Values hosts = two.hosts.values();
  hosts.memory_bytes = 12e6;
  two.hosts = core::Hosts::make(hosts);
  CostOptions all = options(8, 8);
  all.seeds = {1};
  const HistoryCheck check = check_of("node-2", 0, -0.5);
  const auto reason = [&](const core::ClusterModel& cluster) {
    const Cost cost = cost_of(check, cluster, all);
    EXPECT_EQ(cost.now.gflops.size(), 1U);
    EXPECT_EQ(cost.hosts.at(0).alone.gflops, cost.now.gflops);
    EXPECT_TRUE(cost.hosts.at(0).without.gflops.empty());
    EXPECT_FALSE(cost.hosts.at(0).pays_to_leave_out);
    return cost.hosts.at(0).not_without;
  };
  EXPECT_THAT(reason(two), AllOf(HasSubstr("a matrix that fits a host"), Not(HasSubstr("hint"))));
  two = transformed(request_.cluster, {{"remove-hosts", "node-[3-32]"}, {"fat-tree", "1:1"}});
  EXPECT_THAT(reason(two), HasSubstr("that its fat_tree joins"));
}

TEST_F(CostOfFindings, RefusesWhatHasNoCost) {
  EXPECT_THAT(error_in([&] { cost_of({}, request_.cluster, options(1, 1)); }), HasSubstr("nothing to predict"));
  EXPECT_THAT(
      error_in([&] { cost_of(check_of("node-2", 0, 0.1, "temperature_celsius"), request_.cluster, options(1, 1)); }),
      HasSubstr("nothing to predict"));
  EXPECT_THAT(error_in([&] { cost_of(check_of("other-2", 0, -0.1), request_.cluster, options(1, 1)); }),
              HasSubstr("--normal"));
  EXPECT_THAT(error_in([&] { with_cpu_speed(request_.cluster, "node-1", 7, 0.9); }), HasSubstr("below 2"));
  EXPECT_THAT(error_in([&] { with_cpu_speed(request_.cluster, "node-1", 0, 0); }), HasSubstr("> 0"));
}

TEST_F(CostOfFindings, AreUndoneInModelsThatWereFittedWhileTheyLasted) {
  const HistoryCheck check = check_of("node-2", 1, -0.2);
  const core::ClusterModel now = with_cpu_speed(request_.cluster, "node-2", 1, 0.8);
  const core::ClusterModel before = without_findings(check, now);
  const core::KernelShape shape{500, 500, 128};
  const auto mean_s = [&](const core::ClusterModel& cluster) {
    return cluster.kernels.at("dgemm").law(1, 1).at(shape).mean_s(shape);
  };
  EXPECT_NEAR(mean_s(before) / mean_s(request_.cluster), 1, 1e-12);
}

}  // namespace
}  // namespace hplcast::study
