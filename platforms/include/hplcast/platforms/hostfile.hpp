#pragma once

#include <iosfwd>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// A hostfile for smpirun and mpirun: one line per rank, hosts filled in order with one rank per core.
/// @throws DomainError for fewer than one rank, or more ranks than the cluster has cores.
void write_hostfile(std::ostream& out, const core::ClusterModel& cluster, int ranks);

}  // namespace hplcast::platforms
