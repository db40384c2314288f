#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

/// What smpirun is given, below one folder.
struct SimulationFiles {
  std::filesystem::path cluster;     ///< cluster.json, for the runtime of the simulated program
  std::filesystem::path platform;    ///< platform.xml, or the library that makes the platform
  std::filesystem::path hostfile;    ///< one host a rank
  std::vector<std::string> options;  ///< --cfg=... of SimGrid
};

/// Writes the files of a simulation of `ranks` ranks. The platform library stands in for platform.xml where that would
/// lose something of the cluster's network; empty: platform.xml in any case.
/// @throws core::Error if a file cannot be written.
SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder);

}  // namespace hplcast::study
