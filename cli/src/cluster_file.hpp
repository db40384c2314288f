#pragma once

#include <string>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::cli {

/// Reads a cluster.json. @throws core::Error if it cannot be opened or read.
core::ClusterModel read_cluster_file(const std::string& path);

}  // namespace hplcast::cli
