#pragma once

#include <string>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/smpi_models/hplcast_model_table.h"
#include "settings.hpp"

namespace hplcast::smpi_models {

/// The models that a simulation runs with.
struct Model {
  core::ClusterModel cluster;
  std::string sha256;            ///< of the cluster.json that it comes from
  std::string source;            ///< path of cluster.json, or "model.h"
  double max_message_bytes = 0;  ///< largest message that any scope was measured with; 0: not known
};

/// The hosts and kernels of a generated model.h. Its network stays at the default: that is the platform's business.
/// @throws DomainError for another version of the tables and for whatever the value types of core refuse.
Model model_from_table(const hplcast_model_table& table);

/// Reads a cluster.json. @throws Error, ParseError
Model model_from_file(const std::string& path);

}  // namespace hplcast::smpi_models
