#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

/// A machine as one knows it before anything is measured.
struct QuickMachine {
  int nodes = 1;
  int cores = 1;                     ///< per node
  double flop_per_s_per_core = 0;    ///< of dgemm, with all cores busy
  double bandwidth_bytes_per_s = 0;  ///< of the link of a node; 0: not known, for one node only
  double latency_s = 0;              ///< between two nodes
  double memory_bytes = 0;           ///< of a node; 0: not known
  std::string name = {};             ///< of the cluster; empty: "64x8-cores"
  std::string threads = {};          ///< per rank, each on a core of its own: "16", "16:0.95"; empty: 1
  int ranks_per_node = 0;            ///< 0: as many as the cores and threads allow
  std::string fat_tree = {};         ///< "HOSTS_PER_LEAF:TOP_SWITCHES[:LINKS]"; empty: a single switch
  double idle_w = 0, full_w = 0;     ///< of a node without work, and with all cores at work; 0: no power
};

/// Assumed properties of such a machine: in the middle, and at both ends of what is usual.
struct QuickAssumptions {
  double waiting;            ///< all wait for the slowest CPU: factor on the time of all kernels
  double other_kernels;      ///< time of all kernels but dgemm and dtrsm, over those of a CPU of 2017
  double dtrsm;              ///< rate of dtrsm over that of dgemm
  double link_share;         ///< part of the bandwidth that messages get
  double flow_bytes_per_s;   ///< that one core can send at most, to another node
  double local_bytes_per_s;  ///< of a message inside a node
  double call_s;             ///< time of a core in a call that sends or receives
};

/// One assumption: its name for people, its place in QuickAssumptions, its values in SI.
template <typename Values>
struct Assumption {
  std::string text;  ///< with the unit
  double Values::*value;
  double unit;  ///< of `text`, in SI
  double worst, expected, best;
};
using QuickAssumption = Assumption<QuickAssumptions>;

/// All assumptions that make these values.
template <typename Values>
const std::vector<Assumption<Values>>& listed_assumptions();
template <>
const std::vector<QuickAssumption>& listed_assumptions();

/// All of them at Assumption::worst, expected or best.
template <typename Values>
Values all_assumptions(double Assumption<Values>::*at) {
  Values all{};
  for (const Assumption<Values>& one : listed_assumptions<Values>()) all.*one.value = one.*at;
  return all;
}

/// The cluster: the machine as given, changed by the transformations threads-per-rank, ranks-per-node and fat-tree. To
/// predict with at once, and to replace piece by piece by what is measured. Its provenance says what is
/// given and what assumed. @throws core::DomainError for values that are not positive, or several nodes without a
/// network.
core::ClusterModel quick_cluster(const QuickMachine& machine, const QuickAssumptions& assumptions);

/// Watts in proportion to the cores with a rank, whether it works or waits: waiting ranks poll, and a data sheet does
/// not say how much less that takes.
core::PowerModel power_of_data_sheet(double idle_w, double full_w, int cores);

inline constexpr int ranks_with_dates = 4096, ranks_for_ratios = 128;  ///< of the closed form

/// Time of HPL in s without simulation: the dates of all ranks from panel to panel, by the models of kernels and
/// messages of a cluster whose nodes are alike, on a single switch (docs/models/quick.md). `most_ranks`: where there
/// are more, some process rows stand for the others; fewer take less time, and are enough for ratios.
double closed_form_s(const core::ClusterModel& cluster, const core::HplParameters& parameters,
                     int most_ranks = ranks_with_dates);

/// Difference between closed_form_s() and simulations, over the time beyond that of dgemm alone: a little more than the
/// largest in docs/measurements/quick.md.
inline constexpr double closed_form_error = 0.2;

/// How far off the logarithm of a time is if all assumptions are at their worst, or at their best. Nothing of clusters
/// that quick_cluster() has not made. @throws as quick_cluster() for a damaged provenance.
std::optional<double> assumed_spread(const core::ClusterModel& cluster, const core::HplParameters& parameters);

struct QuickRequest {
  QuickMachine machine;
  double gflops_per_core = 0;    ///< sets that of `machine`
  double memory_fraction = 0.8;  ///< for the matrix
  int NB = 256;
};

/// The change of the estimate if one assumption is at its worst or best, the others in the middle.
struct QuickInfluence {
  std::string name;
  double worst = 0, middle = 0, best = 0;    ///< values of the assumption
  double worst_change = 0, best_change = 0;  ///< of Gflop/s, as ratios
};

/// All of them, those that matter most first. `time_s`: of the estimate with these values.
template <typename Values, typename Time>
std::vector<QuickInfluence> influences_of(const Time& time_s) {
  const Values expected = all_assumptions(&Assumption<Values>::expected);
  const double expected_s = time_s(expected);
  std::vector<QuickInfluence> all;
  for (const Assumption<Values>& one : listed_assumptions<Values>()) {
    const auto change = [&](double value) {
      Values changed = expected;
      changed.*one.value = value;
      return expected_s / time_s(changed) - 1;
    };
    all.push_back({one.text, one.worst / one.unit, one.expected / one.unit, one.best / one.unit, change(one.worst),
                   change(one.best)});
  }
  std::stable_sort(all.begin(), all.end(), [](const QuickInfluence& a, const QuickInfluence& b) {
    return a.best_change - a.worst_change > b.best_change - b.worst_change;
  });
  return all;
}

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

/// Nodes with accelerators, one rank on each, as one knows them before anything is measured.
struct AcceleratorMachine {
  int nodes = 1;
  int accelerators = 1;              ///< per node
  double flop_per_s = 0;             ///< of an accelerator: large dgemm, in a short benchmark
  double memory_bytes = 0;           ///< of an accelerator
  double memory_bytes_per_s = 0;     ///< of its memory; 0: not known
  double bandwidth_bytes_per_s = 0;  ///< of all links of a node together; 0: not known, for one node only
  double latency_s = 0;              ///< between two nodes
  double split = 0.3;                ///< share of the columns whose row swap hides behind the update of the others
};

/// Assumed properties of such a machine.
struct AcceleratorAssumptions {
  double sustained;              ///< dgemm in HPL, for minutes, over a short benchmark
  double waiting;                ///< all wait for the slowest: factor on the time of all kernels
  double dtrsm;                  ///< rate of dtrsm over that of dgemm
  double memory_bytes_per_s;     ///< that kernels reach, over that of the memory
  double memory_bytes_per_flop;  ///< the bandwidth of a memory that is not known, over the rate of dgemm
  double reaction;               ///< time of launches, flags and waits, over typical ones
  double link_share;             ///< bandwidth of a message to another node, over the accelerator's share of the links
  double local_bytes_per_s;      ///< of a message to another accelerator of the node
  double call_s;                 ///< time of a call that sends or receives
};

/// One assumption: its name for people, its place, its values in SI.
using AcceleratorAssumption = Assumption<AcceleratorAssumptions>;

template <>
const std::vector<AcceleratorAssumption>& listed_assumptions();

/// Rates and times of HPL on accelerators, in SI.
struct AcceleratorCosts {
  double dgemm_flop_per_s = 0;    ///< of infinite matrices: dgemm_rate() has the others
  double dtrsm_flop_per_s = 0;    ///
  double memory_bytes_per_s = 0;  ///< of kernels that move rows, and of the panel factorisation
  double launch_s = 4e-6;         ///< from the call to the begin of a kernel that has nothing to wait for
  double flag_s = 1.2e-6;         ///< until the host sees what a kernel has written, and the other way round
  double column_s = 4e-6;         ///< of the factorisation: per column, beside memory, flags and messages
  double call_s = 1e-6;           ///< of a call that sends or receives
  double column_bytes_per_s = 0;  ///< of messages between the ranks of a process column, and of a process row
  double row_bytes_per_s = 0;
  double column_latency_s = 0, row_latency_s = 0;
  double split = 0.3;  ///< as AcceleratorMachine::split
};

/// Rate of dgemm by size: d / (1 + 200 / m + 200 / n + 40 / k), a typical curve, not a measured one.
double dgemm_rate(const AcceleratorCosts& costs, double m, double n, double k);

/// Costs of a machine whose ranks have the grid of `parameters`.
AcceleratorCosts accelerator_costs(const AcceleratorMachine& machine, const AcceleratorAssumptions& assumed,
                                   const core::HplParameters& parameters);

/// Time of HPL on accelerators in s: the order of work of rocHPL 7, which factors panels on the accelerator, from panel
/// to panel with a date for each process column (docs/models/quick.md).
double accelerator_form_s(const AcceleratorCosts& costs, const core::HplParameters& parameters);

/// Difference between accelerator_form_s() and simulations, over the time beyond that of dgemm alone: a little more
/// than the largest in docs/measurements/quick-accelerators.md.
inline constexpr double accelerator_form_error = 0.2;

struct AcceleratorRequest {
  AcceleratorMachine machine;
  double memory_fraction = 0.92;  ///< for the matrix
  int NB = 512;
  int N = 0;  ///< 0: by the memory
};

/// As quick(), whose `cluster` and `simulation` stay empty.
/// @throws core::DomainError for values that no machine has.
QuickResult quick_accelerators(const AcceleratorRequest& request);

}  // namespace hplcast::study
