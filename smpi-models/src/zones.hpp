#pragma once

#include <simgrid/s4u/NetZone.hpp>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::smpi_models {

/// The hosts and links of a cluster as the root zone of the platform, with the names that platform.xml gives them;
/// sealed.
/// @throws DomainError for topology parameters that cannot be read, or that make another number of leaves than there
/// are hosts.
simgrid::s4u::NetZone* build_zone(const core::ClusterModel& cluster);

}  // namespace hplcast::smpi_models
