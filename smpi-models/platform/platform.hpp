#pragma once

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/network_model.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/platform/network_costs.hpp"

namespace simgrid::s4u {
class Engine;
class Host;
}  // namespace simgrid::s4u

namespace hplcast::smpi_models {

/// Latency in s of the route between any two hosts (on a torus: half of it per link). It is a weight: SimGrid gives a
/// flow a share of a link in proportion to 1 / the latency of its route (network/weight-S is 0), or to 1 if it has no
/// latency. So all flows share alike. How long a message really waits is up to latency_factor().
inline constexpr double route_latency_s = 1;

/// SimGrid's factor on the latency of a route of `links` links: it grows with their number.
double latency_factor(const core::Topology& topology, const core::MessageFlow& flow, std::size_t links) noexcept;

/// Results of hplcast_build_platform() for SimGrid's callbacks and the runtime.
struct PlatformCosts {
  NetworkCosts costs;
  std::vector<simgrid::s4u::Host*> places;  ///< of the topology, in order; the hosts of the cluster come first
  MessageTotals smpi_messages;  ///< what went through SMPI itself until now, messages of collectives among them
  core::Hosts hosts = {};       ///< only if they have several cards
};

}  // namespace hplcast::smpi_models

/// Builds the platform of the cluster.json and installs its message costs as callbacks; for load_platform() of the
/// platform library, which must hold nothing itself because SimGrid unloads it. Ends the simulation with a message if
/// it cannot.
__attribute__((visibility("default"))) void hplcast_build_platform(const simgrid::s4u::Engine& engine);
