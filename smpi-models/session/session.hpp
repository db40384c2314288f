#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_model_table.h"
#include "smpi-models/flows/flow_shape.hpp"
#include "smpi-models/platform/platform.hpp"
#include "smpi-models/program/shared_memory.hpp"

namespace hplcast::smpi_models {

struct Ringer;

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

/// All that belongs to the simulation of this process. The first user opens it, without SimGrid: model.h registers
/// itself before main(), the program may allocate before there are ranks, and the platform is built before the runtime.
class Session {
 public:
  /// Settings of the file that HPLCAST_SIMULATION names; without it the defaults. @throws core::Error
  const Settings& settings();
  /// The cluster.json that the settings name, if they do. @throws core::Error
  const std::optional<Model>& file_model();
  /// The same cluster.json, or else the registered model.h. @throws core::Error
  std::optional<Model> model();
  /// Hands over the tables of model.h. @throws core::DomainError for a second, different model.
  void register_model(const hplcast_model_table& table);

  std::optional<PlatformCosts> platform;  ///< only with the platform library
  AnnouncedFlows announced_flows;         ///< of SimGrid's network
  std::vector<std::shared_ptr<Ringer>> idle_ringers;
  std::optional<SharedMemory> shared_memory;  ///< shared_memory() makes it

 private:
  std::optional<Settings> settings_;
  std::optional<std::optional<Model>> file_model_;
  const hplcast_model_table* registered_ = nullptr;
};

/// The one of this process, never destroyed: actors may outlive static objects.
inline Session& session() {
  static auto* const opened = new Session();
  return *opened;
}

}  // namespace hplcast::smpi_models
