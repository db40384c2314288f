#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

/// A machine as one knows it before anything is measured.
struct QuickMachine {
  int nodes = 1;
  int cores = 1;                     ///< per node
  double flop_per_s_per_core = 0;    ///< of dgemm, with all cores busy
  double bandwidth_bytes_per_s = 0;  ///< of the link of a node; 0: not known, for one node only
  double latency_s = 0;              ///< between two nodes
  double memory_bytes = 0;           ///< of a node; 0: not known
};

/// What is not known of such a machine is assumed: in the middle, and at both ends of what is usual.
struct QuickAssumptions {
  double waiting;            ///< all wait for the slowest CPU: factor on the time of kernels in the closed form
  double other_kernels;      ///< time of all kernels but dgemm and dtrsm, over those of a CPU of 2017
  double dtrsm;              ///< rate of dtrsm over that of dgemm
  double link_share;         ///< part of the bandwidth that messages get
  double flow_bytes_per_s;   ///< that one core can send at most, to another node
  double local_bytes_per_s;  ///< of a message inside a node
  double call_s;             ///< time of a core in a call that sends or receives
  double overlap;            ///< part of the panel factorisation and broadcast that look-ahead hides, 0 to 1
};

/// One assumption: its name for people, and its place in QuickAssumptions.
struct QuickAssumption {
  std::string text;  ///< with the unit
  double QuickAssumptions::*value;
  double unit = 1;  ///< of `text`, in SI
};

const std::vector<QuickAssumption>& quick_assumptions();

QuickAssumptions expected_assumptions();
QuickAssumptions pessimistic_assumptions();
QuickAssumptions optimistic_assumptions();

/// The cluster: to predict with at once, and to replace piece by piece by what is measured. Its provenance says what is
/// given and what assumed. @throws core::DomainError for values that are not positive, or several nodes without a
/// network.
core::ClusterModel quick_cluster(const QuickMachine& machine, const QuickAssumptions& assumptions);

}  // namespace hplcast::study
