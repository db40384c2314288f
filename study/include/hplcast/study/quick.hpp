#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/study/quick_machine.hpp"
#include "hplcast/study/simulation_needs.hpp"

namespace hplcast::study {

/// Difference between closed_form_s() and simulations, over the time beyond that of dgemm alone: a little more than the
/// largest in docs/models/quick.md.
inline constexpr double closed_form_error = 0.3;

struct QuickRequest {
  QuickMachine machine;
  std::string gflops_per_core;   ///< "30", in Gflop/s, or with a unit; sets that of `machine`
  double memory_fraction = 0.8;  ///< for the matrix
  int NB = 256;
};

/// The change of the estimate if one assumption is at its worst or best, the others in the middle.
struct QuickInfluence {
  std::string name;
  double worst = 0, middle = 0, best = 0;    ///< values of the assumption
  double worst_change = 0, best_change = 0;  ///< of Gflop/s, as ratios
};

struct QuickResult {
  core::HplParameters parameters;
  core::ClusterModel cluster;  ///< with the assumptions in the middle
  double memory_share = 0;     ///< of the matrix
  double gflops = 0, low_gflops = 0, high_gflops = 0;
  double time_s = 0, low_time_s = 0, high_time_s = 0;
  double peak_gflops = 0;                  ///< of dgemm on all cores
  std::vector<QuickInfluence> influences;  ///< those that matter most first
  SimulationNeeds simulation;              ///< of `predict` with this cluster
};

/// N for the memory, the grid nearest to a square, and the time of HPL by closed_form_s(): in the middle of the
/// assumptions, and with all at their worst or best.
/// @throws core::UsageError for values that no machine has.
QuickResult quick(const QuickRequest& request);

}  // namespace hplcast::study
