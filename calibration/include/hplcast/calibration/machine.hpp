#pragma once

#include <filesystem>

#include "hplcast/calibration/topology.hpp"
#include "hplcast/core/campaign.hpp"

namespace hplcast::calibration {

/// Describes this machine; /proc and /sys are looked for under `root` (tests have some of their own). Never fails for
/// something that the system does not tell.
core::MachineDescription describe_machine(const Topology& topology, const std::filesystem::path& root = "/");

/// Memory in bytes that programs can still take, as the system and the control group say.
double available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace hplcast::calibration
