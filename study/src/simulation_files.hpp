#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

/// The files and options of smpirun, below one folder.
struct SimulationFiles {
  std::filesystem::path cluster;     ///< cluster.json, for the runtime of the simulated program
  std::filesystem::path platform;    ///< the platform library; without it platform.xml
  std::filesystem::path hostfile;    ///< one host per rank
  std::vector<std::string> options;  ///< --cfg=... of SimGrid
};

/// Writes the files of a simulation of `ranks` ranks. The platform is `platform_library`, which reads cluster.json; if
/// that is empty, a platform.xml is written, with its losses (docs/formats/platform-xml.md).
/// @throws core::Error if a file cannot be written.
SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder);

}  // namespace hplcast::study
