// Runs of one node, simulated with the models of their own logs.
#include <gtest/gtest.h>

#include <fstream>

#include "hplcast/study/log_cluster.hpp"
#include "tests/study/simulated_cluster.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::study {
namespace {

using LogRuns = testing::SimulatedCluster;

TEST_F(LogRuns, RecordedRunsOfOneNodeAreReproduced) {
  HPLCAST_REFERENCE_FILE(folder, "alaska/hpl");
  const std::string name = "alaska_mkl_1x1_2020-10-22.out";
  std::ifstream in(folder / name);
  LogMachine machine;
  machine.logs = core::read_hpl_logs(in, name);
  request_.cluster = fit_logs(machine).cluster;
  request_.parameters = machine.logs[0].parameters;
  const core::Prediction prediction = predict(request_);
  EXPECT_NEAR(prediction.gflops, machine.logs[0].result->gflops, 0.02 * prediction.gflops) << "as asked for: 2 %";
}

}  // namespace
}  // namespace hplcast::study
