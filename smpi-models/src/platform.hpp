#pragma once

namespace simgrid::s4u {
class Engine;
}

/// Builds the platform of HPLCAST_CLUSTER and installs its message costs as callbacks; for load_platform() of the
/// platform library, which must hold nothing itself because SimGrid unloads it. Ends the simulation with a message if
/// it cannot.
__attribute__((visibility("default"))) void hplcast_build_platform(const simgrid::s4u::Engine& engine);
