#pragma once

#include "message_totals.hpp"

namespace simgrid::s4u {
class Engine;
}

namespace hplcast::smpi_models {
class NetworkCosts;

/// The message costs of the platform that hplcast_build_platform() built; null if it did not.
NetworkCosts* platform_costs();

/// What went through SMPI itself until now, messages of collectives among them. None without the platform library.
MessageTotals smpi_messages();
}  // namespace hplcast::smpi_models

/// Builds the platform of HPLCAST_CLUSTER and installs its message costs as callbacks; for load_platform() of the
/// platform library, which must hold nothing itself because SimGrid unloads it. Ends the simulation with a message if
/// it cannot.
__attribute__((visibility("default"))) void hplcast_build_platform(const simgrid::s4u::Engine& engine);
