// `hplcast quick`: its closed form against simulations of the cluster that it writes, and what it refuses.
#include "hplcast/study/quick.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

QuickRequest machine(int nodes, int cores, double memory_bytes) {
  QuickRequest request;
  request.machine.nodes = nodes;
  request.machine.cores = cores;
  request.machine.bandwidth_bytes_per_s = 12.5e9;
  request.machine.latency_s = 1e-6;
  request.machine.memory_bytes = memory_bytes;
  request.gflops_per_core = "30";
  return request;
}

TEST(Quick, TakesAMultipleOfNbThatFitsTheMemoryAndTheGridNearestToASquare) {
  const QuickResult result = quick(machine(32, 32, 192.0 * (1 << 30)));
  EXPECT_EQ(result.parameters.P, 32);
  EXPECT_EQ(result.parameters.Q, 32);
  EXPECT_EQ(result.parameters.N % result.parameters.NB, 0);
  EXPECT_LE(result.memory_share, 0.8);
  const double next =
      static_cast<double>(result.parameters.N + result.parameters.NB) / static_cast<double>(result.parameters.N);
  EXPECT_GT(result.memory_share * next * next, 0.8) << "one NB more is too much";
  EXPECT_NEAR(result.gflops * result.time_s, core::hpl_flop(static_cast<double>(result.parameters.N)) / 1e9,
              1e-12 * result.gflops * result.time_s);  // rounding
}

TEST(Quick, TheIntervalHasItsMiddleInsideAndNeverMoreThanThePeak) {
  for (const int nodes : {1, 2, 100}) {
    const QuickResult result = quick(machine(nodes, 8, 1e10));
    EXPECT_LT(result.low_gflops, result.gflops);
    EXPECT_LT(result.gflops, result.high_gflops);
    EXPECT_LT(result.high_gflops, result.peak_gflops);
    for (const QuickInfluence& one : result.influences) {
      EXPECT_LE(one.worst_change, 0) << one.name;
      EXPECT_GE(one.best_change, 0) << one.name;
    }
  }
}

TEST(Quick, RanksWithThreadsAreFewerAndHaveThePeakOfAllCores) {
  QuickRequest request = machine(64, 128, 256e9);
  const QuickResult flat = quick(request);
  EXPECT_EQ(flat.cluster.name, "64x128-cores");
  request.machine.threads = "16:0.95";
  request.machine.fat_tree = "16:8";
  request.machine.idle_w = 200;
  request.machine.full_w = 840;
  request.machine.name = "offer A";
  const QuickResult threads = quick(request);
  EXPECT_EQ(threads.cluster.name, "offer A");
  EXPECT_EQ(threads.cluster.hosts.values().cores, 8);
  EXPECT_EQ(threads.parameters.P * threads.parameters.Q, 512);
  EXPECT_DOUBLE_EQ(threads.peak_gflops, flat.peak_gflops);
  EXPECT_LT(threads.gflops, 0.95 * threads.peak_gflops);
  EXPECT_TRUE(std::holds_alternative<core::FatTree>(threads.cluster.network.values().topology));
  // 5 W per core of dgemm, 16 of them per rank.
  const core::PowerModel& power = threads.cluster.power.value();
  EXPECT_DOUBLE_EQ(power.values().states.at("dgemm").at(std::nullopt), 80);
  request.machine.ranks_per_node = 4;
  EXPECT_EQ(quick(request).parameters.P * quick(request).parameters.Q, 256);
  request.machine.threads = "15";
  EXPECT_THROW(quick(request), core::DomainError);
  request.machine.threads = "16";
  request.machine.full_w = 100;
  EXPECT_THROW(quick(request), core::DomainError);
}

TEST(Quick, ALargerMatrixIsNearerToThePeakAndASlowerNetworkFurther) {
  const auto share = [](const QuickRequest& request) {
    const QuickResult result = quick(request);
    return result.gflops / result.peak_gflops;
  };
  QuickRequest slow = machine(16, 8, 1e9);
  slow.machine.bandwidth_bytes_per_s /= 100;
  EXPECT_LT(share(machine(16, 8, 1e8)), share(machine(16, 8, 1e9)));
  EXPECT_LT(share(slow), share(machine(16, 8, 1e9)));
}

TEST(Quick, RefusesWhatNoMachineHas) {
  QuickRequest request = machine(2, 2, 1e9);
  request.gflops_per_core = "30GB/s";
  EXPECT_THROW(quick(request), core::UsageError);
  request.gflops_per_core = "0";
  EXPECT_THROW(quick(request), core::DomainError);
  request = machine(2, 2, 1e9);
  request.machine.bandwidth_bytes_per_s = 0;
  EXPECT_THROW(quick(request), core::DomainError);
  request.machine.nodes = 1;  // which needs none
  EXPECT_NO_THROW(quick(request));
}

class QuickSimulation : public testing::SimulatedCluster {};

TEST_F(QuickSimulation, TheClosedFormIsWithinItsErrorOfTheTimeBeyondDgemm) {
  for (const auto& [nodes, cores, memory_bytes] : {std::tuple(1, 4, 5e7), {2, 4, 5e7}, {4, 1, 5e7}}) {
    QuickRequest small = machine(nodes, cores, memory_bytes);
    small.NB = 64;
    const QuickResult result = quick(small);
    request_.cluster = result.cluster;
    request_.parameters = result.parameters;
    const double simulated_s = predict(request_).time_s;
    const double dgemm_s = core::hpl_flop(static_cast<double>(result.parameters.N)) / (1e9 * result.peak_gflops);
    EXPECT_LT(std::abs(result.time_s - simulated_s), closed_form_error * (simulated_s - dgemm_s))
        << nodes << " x " << cores << ": " << result.time_s << " and " << simulated_s;
    EXPECT_GT(simulated_s, result.low_time_s);
    EXPECT_LT(simulated_s, result.high_time_s);
  }
}

TEST_F(QuickSimulation, ItsClusterHasAllKernelsAndIsFlagged) {
  const core::ClusterModel cluster = quick(machine(2, 2, 1e8)).cluster;
  EXPECT_EQ(cluster.kernels.size(), request_.cluster.kernels.size());
  EXPECT_THAT(cluster.provenance, ::testing::HasSubstr("\"flag\":\"assumed\""));
}

}  // namespace
}  // namespace hplcast::study
