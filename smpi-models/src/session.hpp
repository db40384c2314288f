#pragma once

#include <optional>

#include "settings.hpp"
#include "table_model.hpp"

namespace hplcast::smpi_models {

/// What is the same for the platform and for the runtime of one simulation.
struct Session {
  Settings settings;
  std::optional<Model> file_model;  ///< of HPLCAST_CLUSTER, if it is set
};

/// Reads the environment and the cluster.json at the first call; later calls give the same. @throws Error
const Session& session();

}  // namespace hplcast::smpi_models
