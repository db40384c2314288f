// examples/accelerators/block_lu.cpp in the simulator: executed it solves its system, modelled it makes the same calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_cluster.hpp"

namespace hplcast {
namespace {

struct SimulatedGrid {
  int N, NB, P, Q;
  const char *split, *inner;
};

study::ProgramRun simulated_lu(const SimulatedGrid& grid, bool executes, bool fast = false) {
  study::ProgramRunRequest request;
  request.cluster = tests::program_cluster();
  core::AcceleratorModel model;
  model.per_host = 8;
  model.memory_bytes = 1e9;
  model.compute_units = 1;
  model.launch_s = model.start_s = model.sync_s = 1e-6;
  model.to_device = model.from_device = model.within_device = {1e-6, 1e10, std::nullopt};
  for (const char* name : {"dgemm", "dtrsm"})
    model.kernels[name] = {{}, {}, {}, tests::exact_model({{1, 1, 1}}, {1e-11}), {}};
  for (const char* name : {"dger", "dgemv", "dscal", "dcopy", "idamax", "dtrsv"})
    model.kernels[name] = {{}, {}, {}, tests::exact_model({{1, 1, 0}}, {1e-9}), {}};
  for (const char* name : {"fill", "pack_rows", "unpack_rows", "copy_block"})
    model.kernels[name] = {0, 1, {}, tests::exact_model({{1, 1, 0}}, {1e-9}), {}};
  request.cluster.accelerators = model;
  request.ranks = grid.P * grid.Q;
  request.program = HPLCAST_BINARY_DIR "/tests/accelerators_block_lu-smpi";
  for (const int number : {grid.N, grid.NB, grid.P, grid.Q}) request.arguments.push_back(std::to_string(number));
  request.arguments.insert(request.arguments.end(), {grid.split, grid.inner});
  request.numerics = executes;
  request.fast = fast;
  if (executes) request.arguments.emplace_back("check");
  request.timeout_s = 120;
  return study::run_program(request);
}

TEST(SimulatedBlockLu, SolvesItsSystemWhereKernelsAreExecuted) {
  for (const SimulatedGrid& grid : {SimulatedGrid{384, 64, 1, 1, "0.3", "32"},
                                    {384, 64, 1, 2, "0.3", "16"},
                                    {320, 32, 2, 2, "0.5", "7"},
                                    {300, 50, 3, 2, "0.3", "32"}})
    EXPECT_THAT(simulated_lu(grid, true).output, testing::HasSubstr("PASSED"));
}

TEST(SimulatedBlockLu, ModelledProductsAreThoseOfTheClosedForm) {
  for (const SimulatedGrid& grid : {SimulatedGrid{2048, 128, 1, 1, "0.3", "32"}, {2048, 128, 2, 3, "0.3", "32"}}) {
    const study::ProgramRun run = simulated_lu(grid, false);
    double update = 0, panels = 0;
    for (double behind = grid.N - grid.NB; behind >= 0; behind -= grid.NB) {
      update += 2 * behind * (behind + 1) * grid.NB;
      for (double right = grid.NB - 32; right > 0; right -= 32) panels += 2 * (behind + right) * right * 32;
    }
    EXPECT_EQ(std::atof(run.output.c_str() + run.output.find("dgemm ") + 6), update) << run.output;
    ASSERT_TRUE(run.accelerators.has_value());
    EXPECT_EQ(run.accelerators->kernels.at("dgemm/NN").flop, update + panels);
  }
}

TEST(SimulatedBlockLu, FastModeTakesTheSameTime) {
  for (const SimulatedGrid& grid : {SimulatedGrid{2048, 128, 1, 4, "0.3", "32"}, {2048, 128, 2, 3, "0.3", "32"}}) {
    const study::ProgramRun exact = simulated_lu(grid, false), fast = simulated_lu(grid, false, true);
    constexpr double asked_for = 0.01;
    EXPECT_NEAR(fast.time_s / exact.time_s, 1, asked_for);
    EXPECT_EQ(fast.messages, exact.messages);
  }
  EXPECT_THAT(simulated_lu({384, 64, 2, 2, "0.3", "16"}, true, true).output, testing::HasSubstr("PASSED"));
}

}  // namespace
}  // namespace hplcast
