#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::platforms {

/// The `--cfg=...` arguments that smpirun needs for a simulation with our models, whatever the program. What depends on
/// the network comes with platform.xml or with the platform library and is not repeated here.
std::vector<std::string> smpi_options(const core::ClusterModel& cluster);

}  // namespace hplcast::platforms
