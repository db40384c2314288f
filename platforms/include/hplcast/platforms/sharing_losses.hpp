#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// Loss of a scope where messages go through SMPI itself (plain smpirun with platform.xml, `predict --paje`):
/// there a flow of bandwidth factor f takes 1/f of its link for each byte, so that several flows have a total of f
/// of the link, and not the whole link (docs/internals/platform.md).
struct SharingLoss {
  core::Scope scope = core::Scope::remote;
  double least_factor = 1;      ///< of a segment with messages of 1 KiB or more
  double least_from_bytes = 0;  ///< where that segment starts
  double longest_factor = 1;    ///< of the longest messages measured
  int matters_from_ranks = 2;   ///< per host: with fewer, links are not shared
};

/// One for each scope of which a factor is below 0.98 and whose links this cluster can share: links between hosts from
/// two ranks per host on (from one on a topology or a backbone, whose links several hosts share), those inside a host
/// if they have a capacity.
std::vector<SharingLoss> sharing_losses(const core::ClusterModel& cluster);

/// A sentence for people.
std::string to_string(const SharingLoss& loss);

}  // namespace hplcast::platforms
