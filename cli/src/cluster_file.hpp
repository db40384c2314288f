#pragma once

#include <string>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::cli {

/// Reads a cluster.json. @throws core::Error if it cannot be opened or read.
core::ClusterModel read_cluster_file(const std::string& path);

/// Tells on stderr what a model probably does not mean (core::doubts), and how many doubts `fit cluster` has noted
/// about the measurements of a model (docs/use/fit-cluster.md), and of which kinds.
void warn_about_quality(const std::string& command, const core::ClusterModel& cluster);

}  // namespace hplcast::cli
