#pragma once

#include <optional>
#include <string>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_model_table.h"

namespace hplcast::smpi_models {

using core::SampledExchanges;
using Settings = core::SimulationSettings;

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

/// What is the same for the platform and for the runtime of one simulation.
struct Session {
  Settings settings;                ///< of the file that HPLCAST_SIMULATION names; without it the defaults
  std::optional<Model> file_model;  ///< of their cluster.json, if they name one
};

/// Reads the settings and the cluster.json at the first call; later calls give the same. @throws Error
const Session& session();

}  // namespace hplcast::smpi_models
