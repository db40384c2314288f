#pragma once

#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/study/quick.hpp"

namespace hplcast::study {

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

const std::vector<AcceleratorAssumption>& accelerator_assumptions();

/// All of them at AcceleratorAssumption::worst, expected or best.
AcceleratorAssumptions all_assumptions(double AcceleratorAssumption::*at);

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
