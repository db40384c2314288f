#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/history/check.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::history {

/// The cluster with dgemm of some CPUs at another speed (2: twice as fast; noise keeps its size relative to the
/// duration). `cpu` -1: all CPUs of the host; an empty host: all of the cluster.
/// @throws core::DomainError for a host or CPU that the cluster does not have, a factor that is not positive, or a
/// cluster without a model of dgemm.
core::ClusterModel with_cpu_speed(const core::ClusterModel& cluster, const std::string& host, int cpu, double factor);

/// A grid of at most `ranks` ranks, at least a third as high as wide, as large and then as square as possible.
struct Grid {
  int P = 1, Q = 1;
};
Grid grid_of(int ranks);

struct CostOptions {
  core::HplParameters parameters;
  std::vector<std::uint64_t> seeds = {1, 2, 3};  ///< the same random numbers for all clusters that are compared
  int jobs = 1;
  study::SimulationMode mode = study::SimulationMode::automatic;
  study::SimulatorPrograms programs;
  std::size_t most_hosts = 10;  ///< those with the largest effects are looked at one by one
};

/// What HPL does on one state of the cluster.
struct Scenario {
  std::string name;
  core::HplParameters parameters;  ///< a grid of its own where a host is left out
  std::vector<double> gflops;      ///< by seed
  double effect = 0;               ///< mean ratio to the normal cluster - 1, seed by seed
  double effect_error = 0;         ///< half a 95 % interval: seeds, and that of the finding itself
};

struct Cost {
  std::string factor;                     ///< that was taken for the speed of CPUs
  std::vector<std::string> kept_kernels;  ///< whose models are the same everywhere: findings change dgemm alone
  std::vector<double> normal_gflops;
  Scenario now;  ///< all findings at once
  struct OfHost {
    std::string host;
    std::string what;                ///< its findings: "CPU 0 -4.8 %"
    Scenario alone;                  ///< a cluster on which only this host has changed
    Scenario without;                ///< all findings, this host left out, if there is another
    bool pays_to_leave_out = false;  ///< by half a percent at least, and more than the errors
  };
  std::vector<OfHost> hosts;
};

/// Whether an open finding is about the speed of CPUs.
bool has_cost(const HistoryCheck& check);

/// Predicts HPL on the normal cluster and on what the open findings have made of it. Speeds are those of dgemm_gflops
/// or, if the history has none, frequency_ghz. `normal`: the models without the findings.
/// @throws core::Error (bad_input) if no open finding is about the speed of a CPU, or its hosts are not in the cluster,
/// and what study::predict() throws.
Cost cost_of(const HistoryCheck& check, const core::ClusterModel& normal, const CostOptions& options);

/// Models as they were without the open findings, from models that were fitted while they lasted.
core::ClusterModel without_findings(const HistoryCheck& check, const core::ClusterModel& now);

}  // namespace hplcast::history
