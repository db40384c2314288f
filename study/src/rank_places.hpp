#pragma once

#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/study/explain.hpp"

namespace hplcast::study {

/// Where a rank is in the simulation: hosts are filled in order, one rank per core.
struct RankPlace {
  int host = 0;   ///< index into the hosts of the cluster
  int local = 0;  ///< rank on that host, which is also its core
  int cpu = 0;
};

std::vector<RankPlace> rank_places(const core::ClusterModel& cluster, int ranks);

/// The ranks of `chosen` as few groups: whole hosts, else whole CPUs, else single ranks.
std::vector<RankGroup> rank_groups(const core::ClusterModel& cluster, const std::vector<RankPlace>& places,
                                   const std::vector<bool>& chosen);

}  // namespace hplcast::study
