// Calls of kernels without work, in simulated runs: as many as the real HPL makes.
#include <gtest/gtest.h>

#include <utility>

#include "hplcast/study/predict.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

using EmptyCalls = testing::SimulatedCluster;

/// Counted in the real HPL by a cblas_dgemm of our own in front of the library's.
TEST_F(EmptyCalls, TakeTheirTime) {
  request_.noise = false;
  request_.parameters.N = 3000;
  request_.parameters.NB = 128;
  request_.parameters.NBMIN = 4;
  request_.parameters.PFACT = request_.parameters.RFACT = 1;
  const core::Prediction plain = predict(request_);
  request_.cluster.empty_call_s = {{"dgemm", 1e-3}};
  const core::Prediction empty = predict(request_);
  EXPECT_NEAR(empty.time_s - plain.time_s, 1453e-3, 1e-6);
  EXPECT_EQ(empty.kernels.at("dgemm").calls, plain.kernels.at("dgemm").calls);
  EXPECT_NEAR(empty.kernels.at("dgemm").time_s - plain.kernels.at("dgemm").time_s, 1453e-3, 1e-6);
}

/// Such a rank finds the next panel after the call of its time. Of 1e-4 s that is a percent of some runs.
TEST_F(EmptyCalls, LieBetweenProbesThatAreNotSimulated) {
  request_.cluster.empty_call_s = {{"dgemm", 1e-4}};
  request_.mode = SimulationMode::exact;
  for (const auto& [p, q] : {std::pair(1, 4), std::pair(2, 4)}) {
    request_.parameters = {1500, 128, p, q};
    request_.parameters.DEPTH = 1;
    request_.diagnosis.poll_by_waiting = true;
    const double waited_s = predict(request_).time_s;
    request_.diagnosis.poll_by_waiting = false;
    const double probed_s = predict(request_).time_s;
    EXPECT_NEAR(waited_s / probed_s, 1, 1e-9) << p << "x" << q;
  }
}

/// Ranks that have updated all of their columns call kernels without work between two probes.
TEST_F(EmptyCalls, MayLieBetweenGrowingProbes) {
  request_.cluster.empty_call_s = {{"dgemm", 1e-4}, {"dtrsm", 1e-4}};
  request_.mode = SimulationMode::exact;
  request_.parameters = {1500, 128, 3, 4};
  request_.parameters.DEPTH = 1;
  const double constant_s = predict(request_).time_s;
  core::NetworkModel::Values network = request_.cluster.network.values();
  network.growing_probes = true;
  request_.cluster.network = core::NetworkModel::make(network);
  EXPECT_GT(predict(request_).time_s, constant_s);
}

}  // namespace
}  // namespace hplcast::study
