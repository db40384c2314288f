// `hplcast quick --accelerators`: its closed form against simulations of the program itself, and against public
// results.
#include "hplcast/study/quick.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {
namespace {

/// The model of one die of an MI250X with which rocHPL was simulated (docs/measurements/quick-accelerators.md).
AcceleratorCosts simulated_die() {
  AcceleratorCosts costs;
  costs.dgemm_flop_per_s = 26.5e12;
  costs.dtrsm_flop_per_s = 10e12;
  costs.memory_bytes_per_s = 1.25e12;
  costs.column_bytes_per_s = costs.row_bytes_per_s = 25e9;
  costs.column_latency_s = costs.row_latency_s = 1e-6;
  return costs;
}

core::HplParameters parameters(int N, int NB, int P, int Q) {
  core::HplParameters p;
  p.N = N;
  p.NB = NB;
  p.P = P;
  p.Q = Q;
  return p;
}

double tflop_per_s(const AcceleratorCosts& costs, const core::HplParameters& p) {
  return core::hpl_flop(static_cast<double>(p.N)) / accelerator_form_s(costs, p) / 1e12;
}

TEST(AcceleratorForm, IsWithinATenthOfSimulationsOfRocHpl) {
  struct Row {
    int P, Q, N, NB;
    double network, split, simulated;
  };
  for (const Row& row : std::vector<Row>{{1, 1, 90112, 512, 25, 0.3, 21.7},
                                         {1, 2, 90112, 512, 25, 0.3, 42.8},
                                         {2, 1, 90112, 512, 25, 0.3, 39.5},
                                         {2, 2, 90112, 512, 25, 0.3, 76.8},
                                         {2, 2, 180224, 512, 25, 0.3, 88.8},
                                         {2, 4, 256000, 512, 50, 0.3, 182.4},
                                         {2, 4, 256000, 256, 50, 0.3, 172},
                                         {2, 4, 256000, 1024, 50, 0.3, 186},
                                         {4, 4, 90112, 512, 25, 0.3, 153},
                                         {4, 4, 360448, 512, 25, 0.3, 361},
                                         {8, 8, 720896, 512, 25, 0.3, 1452},
                                         {4, 4, 180224, 512, 6, 0.3, 176},
                                         {4, 4, 180224, 512, 12.5, 0.3, 253},
                                         {4, 4, 180224, 512, 25, 0.3, 311},
                                         {4, 4, 180224, 512, 50, 0.3, 318},
                                         {4, 4, 180224, 512, 6, 0, 131},
                                         {4, 4, 180224, 512, 6, 0.15, 154},
                                         {4, 4, 180224, 512, 6, 0.5, 197},
                                         {4, 4, 180224, 512, 6, 0.7, 190}}) {
    AcceleratorCosts costs = simulated_die();
    costs.column_bytes_per_s = costs.row_bytes_per_s = row.network * 1e9;
    costs.split = row.split;
    const double form = tflop_per_s(costs, parameters(row.N, row.NB, row.P, row.Q));
    EXPECT_NEAR(form / row.simulated, 1, 0.1) << row.P << " x " << row.Q << ", N " << row.N << ", NB " << row.NB << ", "
                                              << row.network << " GB/s, split " << row.split;
  }
}

TEST(AcceleratorForm, WindowsOfALongRunStandForAllPanels) {
  // On one column all panels are computed up to 36 of them, and a third of those of more: the cubic through the last
  // four goes on. The midpoint rule of 12 windows is off by 0.2 % of a parabola.
  const auto time_s = [](int panels) {
    return accelerator_form_s(simulated_die(), parameters(512 * panels, 512, 1, 1));
  };
  const double next_s = 4 * time_s(36) - 6 * time_s(35) + 4 * time_s(34) - time_s(33);
  EXPECT_NEAR(time_s(37) / next_s, 1, 0.005);
}

AcceleratorRequest machine(int nodes, int accelerators, double tflops, double memory_bytes) {
  AcceleratorRequest request;
  request.machine.nodes = nodes;
  request.machine.accelerators = accelerators;
  request.machine.flop_per_s = tflops * 1e12;
  request.machine.memory_bytes = memory_bytes;
  request.machine.bandwidth_bytes_per_s = 100e9;
  request.machine.latency_s = 2e-6;
  return request;
}

TEST(QuickAccelerators, TakesAMatrixThatFitsTheirMemoryAndHasItsMiddleInsideTheInterval) {
  for (const int nodes : {1, 2, 16}) {
    const QuickResult result = quick_accelerators(machine(nodes, 4, 40, 64.0 * (1 << 30)));
    EXPECT_EQ(result.parameters.P * result.parameters.Q, 4 * nodes);
    EXPECT_EQ(result.parameters.N % 512, 0);
    EXPECT_LE(result.memory_share, 0.92);
    EXPECT_GT(result.memory_share, 0.90);
    EXPECT_LT(result.low_gflops, result.gflops);
    EXPECT_LT(result.gflops, result.high_gflops);
    EXPECT_LE(result.high_gflops, result.peak_gflops);
    for (const QuickInfluence& one : result.influences) {
      // Where another date is the latest, a faster part may cost some tenths of a percent.
      EXPECT_LE(one.worst_change, 0.005) << one.name;
      EXPECT_GE(one.best_change, -0.005) << one.name;
    }
  }
}

TEST(QuickAccelerators, RefusesWhatNoMachineHas) {
  EXPECT_THROW(quick_accelerators(machine(1, 4, 0, 64e9)), core::DomainError);
  EXPECT_THROW(quick_accelerators(machine(1, 4, 40, 1e5)), core::DomainError);
  AcceleratorRequest without_network = machine(2, 4, 40, 64e9);
  without_network.machine.bandwidth_bytes_per_s = 0;
  EXPECT_THROW(quick_accelerators(without_network), core::DomainError);
  EXPECT_NO_THROW(quick_accelerators(machine(1, 4, 40, 64e9)));
  AcceleratorRequest too_large = machine(1, 4, 40, 64e9);
  too_large.N = 1000000;
  EXPECT_THROW(quick_accelerators(too_large), core::DomainError);
}

/// What somebody knows beforehand, and what was published (docs/measurements/quick-accelerators.md).
TEST(QuickAccelerators, PublicResultsAreInsideTheIntervals) {
  struct Published {
    const char* name;
    int nodes, accelerators;
    double dgemm_tflops, memory_bytes, memory_bytes_per_s, bandwidth_bytes_per_s;
    int N;
    double tflops;
  };
  for (const Published& one :
       std::vector<Published>{{"MI50", 1, 1, 0.9 * 6.6, 32e9, 1.024e12, 0, 0, 4.73},
                              {"8 H100", 1, 8, 0.9 * 67, 80e9, 3.35e12, 0, 0, 365.4},
                              {"Frontier 2024", 9604, 8, 27.1, 68.7e9, 1.6e12, 100e9, 0, 1353000},
                              {"JUWELS Booster", 936, 4, 0.9 * 19.5, 42.9e9, 1.555e12, 100e9, 0, 44120}}) {
    AcceleratorRequest request;
    request.machine = {one.nodes,
                       one.accelerators,
                       one.dgemm_tflops * 1e12,
                       one.memory_bytes,
                       one.memory_bytes_per_s,
                       one.bandwidth_bytes_per_s,
                       2e-6};
    request.N = one.N;
    const QuickResult result = quick_accelerators(request);
    EXPECT_LT(result.low_gflops, 1e3 * one.tflops) << one.name;
    EXPECT_GT(result.high_gflops, 1e3 * one.tflops) << one.name;
  }
}

}  // namespace
}  // namespace hplcast::study
