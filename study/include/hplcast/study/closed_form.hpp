#pragma once

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::study {

/// What a closed form cannot know of a run.
struct ClosedFormOptions {
  double waiting = 1;  ///< factor on the time of all kernels: the scatter of calls and CPUs makes ranks wait
  double overlap = 1;  ///< part of the panel factorisation and its broadcast that look-ahead hides, 0 to 1
};

/// Time of HPL in s without simulation: over all panels, the expected time of the kernels that the rank with the most
/// rows and columns calls, and of the messages on its way, links shared by the ranks of a host (docs/models/quick.md
/// has the formulas and how far it is from simulations). Assumes parameters near to the default ones: SWAP long, ring
/// broadcast.
double closed_form_s(const core::ClusterModel& cluster, const core::HplParameters& parameters,
                     const ClosedFormOptions& options);

}  // namespace hplcast::study
