// Predictions by the real simulator: what must hold whatever the models are.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hplcast/core/files.hpp"
#include "hplcast/study/predict.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class Simulation : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    request_.parameters.N = 1200;
    request_.parameters.P = 2;
    request_.parameters.Q = 2;
  }
};

/// The cluster with a dgemm that takes `factor` times as long.
core::ClusterModel with_dgemm(const core::ClusterModel& cluster, double factor) {
  core::ClusterModel result = cluster;
  const core::DurationLaw& law = cluster.kernels.at("dgemm").cluster_law().pieces().front().law;
  result.kernels["dgemm"] = core::KernelModel::make(
      "M2", core::PiecewiseLaw(core::DurationLaw::make(core::scaled(law.mu(), factor),
                                                       core::scaled(law.sigma(), factor), law.noise(), law.modes())));
  return result;
}

TEST_F(Simulation, EqualRequestsGiveEqualPredictionsToTheLastDigit) {
  const auto first = predict(request_);
  const auto second = predict(request_);
  EXPECT_EQ(first.time_s, second.time_s);
  EXPECT_EQ(first.gflops, second.gflops);
  ASSERT_EQ(first.kernels.size(), second.kernels.size());
  for (const auto& [kernel, count] : first.kernels) {
    EXPECT_EQ(count.calls, second.kernels.at(kernel).calls) << kernel;
    EXPECT_EQ(count.time_s, second.kernels.at(kernel).time_s) << kernel;
  }
}

TEST_F(Simulation, AnotherSeedGivesAnotherTime) {
  const double first = predict(request_).time_s;
  request_.seed = 2;
  EXPECT_NE(predict(request_).time_s, first);
}

// A rank that needs no rows of the other one begins the next panel, while that is still in this one.
TEST_F(Simulation, InFastModePanelsOfFourColumnsDoNotMeetThoseBefore) {
  request_.parameters = {};
  request_.parameters.N = 240;
  request_.parameters.NB = 4;
  request_.parameters.P = 2;
  request_.parameters.DEPTH = request_.parameters.SWAP = 0;
  for (const std::uint64_t seed : {2, 4}) {  // others did not show it
    request_.seed = seed;
    request_.mode = SimulationMode::exact;
    const double exact_s = predict(request_).time_s;
    request_.mode = SimulationMode::fast;
    // No link is shared inside a host; 5e-5 was seen.
    EXPECT_NEAR(predict(request_).time_s / exact_s, 1, 1e-3) << seed;
  }
}

TEST_F(Simulation, TimeGrowsWithN) {
  const double small = predict(request_).time_s;
  request_.parameters.N = 2400;
  EXPECT_GT(predict(request_).time_s, 2 * small);
}

TEST_F(Simulation, TimeFallsWhenDgemmIsFaster) {
  // With look-ahead HPL cuts its updates where it polls for panels: other times give other calls.
  request_.parameters.DEPTH = 0;
  request_.cluster = with_dgemm(request_.cluster, 1);
  const auto before = predict(request_);
  request_.cluster = with_dgemm(request_.cluster, 0.5);
  const auto after = predict(request_);
  EXPECT_LT(after.time_s, before.time_s);
  EXPECT_NE(after.model_sha256, before.model_sha256);
  // The same calls with the same draws, each half as long; sums differ by rounding.
  EXPECT_NEAR(after.kernels.at("dgemm").time_s, 0.5 * before.kernels.at("dgemm").time_s,
              1e-9 * before.kernels.at("dgemm").time_s);
}

TEST_F(Simulation, LocalMatricesMayHaveMoreThan2To31Elements) {
  request_.parameters.N = 60000;  // 3.6e9 elements on one rank
  request_.parameters.P = request_.parameters.Q = 1;
  const auto prediction = predict(request_);
  const core::KernelCount& dgemm = prediction.kernels.at("dgemm");
  // All but a few percent of HPL's flop, and of its time, is in dgemm.
  EXPECT_NEAR(dgemm.flop, core::hpl_flop(60000), 0.05 * core::hpl_flop(60000));
  EXPECT_NEAR(prediction.time_s, dgemm.time_s, 0.05 * dgemm.time_s);
}

TEST_F(Simulation, PhasesAddUpToTheTimeOfTheRun) {
  request_.observation.phases = true;
  const auto prediction = predict(request_);
  double all_s = 0;
  for (const core::PhaseSummary& phase : prediction.phases) {
    all_s += phase.elapsed_s;
    EXPECT_LE(phase.kernels_s + phase.messages_s + phase.waiting_s, phase.elapsed_s * (1 + 1e-9)) << phase.name;
  }
  // HPL takes the slowest rank, and ends with a barrier.
  EXPECT_NEAR(all_s, prediction.time_s, 0.01 * prediction.time_s);
}

TEST_F(Simulation, ATraceChangesNothing) {
  const double without = predict(request_).time_s;
  const core::TemporaryFolder folder("hplcast-test");
  request_.observation.trace = folder.path() / "trace.json";
  EXPECT_EQ(predict(request_).time_s, without);
  EXPECT_GT(std::filesystem::file_size(request_.observation.trace), 10000U);
}

TEST_F(Simulation, TheSizeOfATraceIsKnownBefore) {
  for (const auto& [P, Q] : {std::pair(1, 4), {4, 1}, {2, 3}}) {
    request_.parameters = {1500, 96, P, Q};
    const core::TemporaryFolder folder("hplcast-test");
    request_.observation.trace = folder.path() / "trace.json";
    predict(request_);
    const double bytes = static_cast<double>(std::filesystem::file_size(request_.observation.trace));
    EXPECT_NEAR(resolve(request_).needs().trace_bytes / bytes, 1, 0.15) << P << "x" << Q;
  }
}

TEST_F(Simulation, ATraceHasASpanOfTimeIfAsked) {
  const core::TemporaryFolder folder("hplcast-test");
  request_.observation.trace = folder.path() / "trace.json";
  const double end_s = predict(request_).time_s;
  const auto whole = std::filesystem::file_size(request_.observation.trace);
  request_.observation.trace_begin_s = 0.4 * end_s;
  request_.observation.trace_end_s = 0.5 * end_s;
  predict(request_);
  EXPECT_LT(std::filesystem::file_size(request_.observation.trace), whole / 2);
  int events = 0;
  std::ifstream in(request_.observation.trace);
  for (std::string line; std::getline(in, line);) {
    double begin_us = 0, duration_us = 0;
    const std::size_t at = line.find("\"ts\":");
    if (at == std::string::npos ||
        std::sscanf(line.c_str() + at, "\"ts\":%lf,\"dur\":%lf", &begin_us, &duration_us) != 2)
      continue;
    ++events;
    EXPECT_GE(begin_us + duration_us, 0.4e6 * end_s - 0.001) << line;
    EXPECT_LT(begin_us, 0.5e6 * end_s + 0.001) << line;
  }
  EXPECT_GT(events, 20);
}

TEST_F(Simulation, ALogSaysWhatRanksDoAndChangesNothing) {
  const double time_s = predict(request_).time_s;
  const core::TemporaryFolder folder("hplcast-test");
  request_.keep = folder.path() / "run";
  const auto log_of = [&](const std::string& categories) {
    request_.observation.log = categories;
    EXPECT_EQ(predict(request_).time_s, time_s);
    return core::read_text(request_.keep / "simulation.log");
  };
  EXPECT_EQ(log_of("").find("[hplcast"), std::string::npos) << "silent by default";
  const std::string messages = log_of("hplcast_messages.thres:verbose");
  EXPECT_NE(messages.find("bytes to rank 1"), std::string::npos);
  EXPECT_EQ(messages.find("dgemm"), std::string::npos);
  const std::string two = log_of("hplcast_kernels.thres:verbose hplcast_rank.thres:verbose");
  EXPECT_NE(two.find("dgemm"), std::string::npos);
  EXPECT_NE(two.find("spends"), std::string::npos);
  EXPECT_EQ(two.find("bytes to rank"), std::string::npos);
}

TEST_F(Simulation, SmpisOwnTraceIsOfTheSameRun) {
  const auto without = predict(request_);
  const core::TemporaryFolder folder("hplcast-test");
  request_.observation.paje = folder.path() / "a trace, of all.paje";  // SimGrid divides its options at these
  // Messages take another way through the simulator: the same but for rounding, which may turn a probe that just found
  // a message into one that just missed it.
  EXPECT_NEAR(predict(request_).time_s, without.time_s, 0.01 * without.time_s);
  EXPECT_GT(std::filesystem::file_size(request_.observation.paje), 10000U);
}

TEST_F(Simulation, HasThePhasesOfHpl) {
  request_.observation.phases = true;
  std::vector<std::string> names;
  for (const core::PhaseSummary& phase : predict(request_).phases) names.push_back(phase.name);
  EXPECT_EQ(names, (std::vector<std::string>{"other", "factorisation", "broadcast", "swap", "update", "solve"}));
}

TEST_F(Simulation, ReportsItsMemory) {
  request_.parameters.N = 30000;  // it is sampled about every 100 ms: the simulation must last longer
  const auto prediction = predict(request_);
  EXPECT_GT(prediction.peak_pss_bytes, 5e6);  // SimGrid alone is more
  EXPECT_LT(prediction.peak_pss_bytes, 500e6);
}

}  // namespace
}  // namespace hplcast::study
