// examples/accelerators/block_lu.cpp in the simulator: executed it solves its system, modelled it makes the same calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_cluster.hpp"

namespace hplcast {
namespace {

struct SimulatedGrid {
  int N, NB, P, Q;
  const char *split, *inner;
};

study::ProgramRunRequest request_of(const SimulatedGrid& grid) {
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
  for (const char* name : {"fill", "pack_rows", "unpack_rows", "order_rows", "copy_block"})
    model.kernels[name] = {0, 1, {}, tests::exact_model({{1, 1, 0}}, {1e-9}), {}};
  request.cluster.accelerators = model;
  request.ranks = grid.P * grid.Q;
  request.program = HPLCAST_BINARY_DIR "/tests/accelerators_block_lu-smpi";
  for (const int number : {grid.N, grid.NB, grid.P, grid.Q}) request.arguments.push_back(std::to_string(number));
  request.arguments.insert(request.arguments.end(), {grid.split, grid.inner});
  request.timeout_s = 120;
  return request;
}

study::ProgramRun simulated_lu(const SimulatedGrid& grid, bool executes, bool fast = false) {
  study::ProgramRunRequest request = request_of(grid);
  request.numerics = executes;
  request.fast = fast;
  if (executes) request.arguments.emplace_back("check");
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
  for (const SimulatedGrid& grid : {SimulatedGrid{2048, 128, 1, 4, "0.3", "32"},
                                    {2048, 128, 2, 3, "0.3", "32"},
                                    {1024, 64, 2, 2, "0.3", "32"},
                                    {1024, 64, 4, 2, "0.3", "32"},
                                    {1024, 64, 1, 5, "0.3", "32"}}) {
    const study::ProgramRun exact = simulated_lu(grid, false), fast = simulated_lu(grid, false, true);
    constexpr double asked_for = 0.01;
    EXPECT_NEAR(fast.time_s / exact.time_s, 1, asked_for);
    // Exact, SMPI looks for ranks of the same host by up to four rings of all ranks, of communicators of many.
    const int ranks = grid.P * grid.Q, rings = ranks < 8 ? 0 : 4;
    EXPECT_LE(fast.messages, exact.messages);
    EXPECT_GE(fast.messages, exact.messages - rings * ranks * ranks);
  }
  EXPECT_THAT(simulated_lu({384, 64, 2, 2, "0.3", "16"}, true, true).output, testing::HasSubstr("PASSED"));
}

TEST(SimulatedBlockLu, WindowsStandForAllPanels) {
  for (const SimulatedGrid& grid : {SimulatedGrid{3200, 16, 2, 2, "0.3", "8"}, {3200, 16, 1, 4, "0.3", "16"}}) {
    study::ProgramRunRequest request = request_of(grid);
    request.fast = true;
    const double all_s = study::run_program(request).time_s;
    request.windows = study::WindowRule::from("4:8");
    const study::ProgramRun run = study::run_program(request);
    constexpr double asked_for = 0.01;
    EXPECT_NEAR(run.time_s / all_s, 1, asked_for);
    EXPECT_LT(std::abs(run.time_s - all_s), run.error_95_s);
    EXPECT_LT(run.sampling->share, 0.7);
  }
}

constexpr double s_per_product = 1e-11;

/// Nothing but dgemm takes time.
core::AcceleratorModel only_dgemm(core::AcceleratorModel model, double slower) {
  model.launch_s = model.start_s = model.sync_s = 0;
  for (core::CopyModel* copy : {&model.to_device, &model.from_device, &model.within_device})
    *copy = {0, 1e18, std::nullopt};
  for (auto& [name, kernel] : model.kernels)
    kernel.model = tests::exact_model({{1, 1, 1}}, {name == "dgemm" ? slower * s_per_product : 0});
  return model;
}

/// Two ranks on "old", then two on "new", whose accelerators take `slower` times as long if that is given.
study::ProgramRunRequest two_kinds(const SimulatedGrid& grid, std::optional<double> slower) {
  study::ProgramRunRequest request = request_of(grid);
  core::ClusterModel& cluster = request.cluster;
  core::HostKind kind{"new", "new", 2, 1, {}, 0, 1};
  if (slower) kind.accelerators = only_dgemm(*cluster.accelerators, *slower);
  cluster.accelerators = only_dgemm(*cluster.accelerators, 1);
  cluster.hosts = core::Hosts::make({"old,new", 2, 1, {}, 0, 1, {kind}});
  cluster.power.reset();
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e15;
  network.local.latency_s = 1e-15;
  network.remote = network.local;
  cluster.network = core::NetworkModel::make(network);
  return request;
}

/// Blocks of `all` with numbers from `first` on that process `me` of `of` has.
int blocks_from(int first, int all, int me, int of) {
  int count = 0;
  for (int block = first; block < all; ++block) count += block % of == me ? 1 : 0;
  return count;
}

/// Bounds of the time: a rank does its updates one after the other; and no step takes longer than its slowest update
/// and the whole panel behind it on one slow accelerator. Column N is b.
std::pair<double, double> bounds_s(const SimulatedGrid& grid, double slower) {
  const int blocks = grid.N / grid.NB, inner = std::atoi(grid.inner);
  std::vector<double> ranks_s(static_cast<std::size_t>(grid.P * grid.Q));
  double steps_s = 0;
  for (int block = 0; block < blocks; ++block) {
    double slowest_s = 0;
    for (int rank = 0; rank < grid.P * grid.Q; ++rank) {
      const double rows = grid.NB * blocks_from(block + 1, blocks, rank / grid.Q, grid.P);
      const double columns =
          grid.NB * blocks_from(block + 1, blocks, rank % grid.Q, grid.Q) + (blocks % grid.Q == rank % grid.Q ? 1 : 0);
      const double update_s = (rank < 2 ? 1 : slower) * s_per_product * rows * columns * grid.NB;
      ranks_s[static_cast<std::size_t>(rank)] += update_s;
      slowest_s = std::max(slowest_s, update_s);
    }
    steps_s += slowest_s;
    for (int right = grid.NB - inner; right > 0; right -= inner)
      steps_s += std::max(1.0, slower) * s_per_product * (grid.NB * (blocks - block - 1) + right) * right * inner;
  }
  return {*std::max_element(ranks_s.begin(), ranks_s.end()), steps_s};
}

TEST(SimulatedBlockLu, WaitsForTheKindOfHostsWhoseAcceleratorsAreSlower) {
  for (const SimulatedGrid& grid : {SimulatedGrid{4096, 128, 1, 4, "0.3", "64"}, {4096, 128, 2, 2, "0.3", "64"}}) {
    const study::ProgramRun alike = study::run_program(two_kinds(grid, std::nullopt));
    EXPECT_EQ(study::run_program(two_kinds(grid, 1)).time_s, alike.time_s) << "kinds with the same accelerators";
    const study::ProgramRun run = study::run_program(two_kinds(grid, 2));
    const auto [least_s, most_s] = bounds_s(grid, 2);
    EXPECT_LT(most_s, 1.12 * least_s) << "bounds that tell";
    EXPECT_GT(run.time_s, (1 - 1e-9) * least_s);
    EXPECT_LT(run.time_s, (1 + 1e-6) * most_s);
    EXPECT_GT(run.time_s, 1.85 * alike.time_s);
    ASSERT_TRUE(run.accelerators && run.accelerators->kinds.size() == 2) << "with and without a kind of its own";
    EXPECT_TRUE(alike.accelerators->kinds.empty());
    const core::AcceleratorCounts &of_old = run.accelerators->kinds[0], &of_new = run.accelerators->kinds[1];
    EXPECT_EQ(of_new.kind, "new");
    EXPECT_EQ(of_old.used, 2);
    EXPECT_EQ(of_old.idle + of_new.idle, 2 * (8 - 2));
    EXPECT_DOUBLE_EQ(run.accelerators->busy_s(), of_old.busy_s() + of_new.busy_s());
    EXPECT_NEAR(2 * of_old.busy_s(),
                of_new.busy_s() * of_old.kernels.at("dgemm/NN").flop / of_new.kernels.at("dgemm/NN").flop,
                1e-9 * of_new.busy_s());
  }
}

TEST(SimulatedBlockLu, EnergyAndRefusalsAreThoseOfTheKind) {
  const SimulatedGrid grid{512, 64, 1, 4, "0.3", "32"};
  study::ProgramRunRequest request = two_kinds(grid, 2);
  core::Hosts::Values hosts = request.cluster.hosts.values();
  core::AcceleratorModel& own = *hosts.kinds[0].accelerators;
  const auto failure = [&] {
    request.cluster.hosts = core::Hosts::make(hosts);
    try {
      study::run_program(request);
    } catch (const core::Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  own.power = core::AcceleratorPower{10, 0, 100};
  own.per_host = 3;
  core::PowerModel::Values watts;
  watts.states["default"] = core::Watts(1);
  request.cluster.power = core::PowerModel::make(watts);
  request.observation.energy = true;
  request.cluster.hosts = core::Hosts::make(hosts);
  EXPECT_THAT(study::check(request), testing::Contains(testing::HasSubstr("`accelerators` of kind others")));
  const study::ProgramRun run = study::run_program(request);
  double found_j = 0;
  for (const core::StateEnergy& state : run.energy->states)
    if (state.name.find("accelerator") == 0) found_j += state.energy_j;
  EXPECT_NEAR(found_j, 100 * run.accelerators->kinds.at(1).busy_s() + 10 * run.time_s, 1e-9 * found_j);
  own.per_host = 1;
  EXPECT_THAT(failure(), testing::HasSubstr("of the ranks of its host that use an accelerator; a host of kind new of "
                                            "cluster program has 1"));
  own.per_host = 2;
  own.memory_bytes = 1e5;
  EXPECT_THAT(failure(), testing::HasSubstr("does not fit"));
  own.memory_bytes = 1e9;
  own.kernels.erase("dgemm");
  EXPECT_THAT(failure(), testing::HasSubstr("the accelerators of hosts of kind new of cluster program have no model"));
  own.per_host = 0;
  EXPECT_THAT(failure(), testing::HasSubstr("hosts of kind new of cluster program have none"));
}

}  // namespace
}  // namespace hplcast
