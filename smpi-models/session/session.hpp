#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/smpi_models/hplcast_model_table.h"
#include "smpi-models/flows/flow_shape.hpp"
#include "smpi-models/observe/energy_meters.hpp"
#include "smpi-models/platform/platform.hpp"
#include "smpi-models/program/shared_memory.hpp"

namespace hplcast::smpi_models {

/// Which exchanges of a panel fast mode simulates. In each panel every `panels`-th part is sampled, in rotation: its
/// first `run` exchanges are simulated. The first `panels` panels sample all parts.
struct SampledExchanges {
  int run = 4;
  int period = 32;  ///< exchanges per part; panels wider than 8 periods have 8 longer parts
  static constexpr int most_parts = 8;
  int panels = 4;

  int part_length(int panel_columns) const { return std::max(period, (panel_columns + most_parts - 1) / most_parts); }
  /// Part of the panel that exchange `index` is in.
  int part(int index, int panel_columns) const { return index / part_length(panel_columns); }
  /// Sampled exchanges of a part, if there are any.
  int run_length(int part, int panel_columns) const {
    return std::min(run, panel_columns - part * part_length(panel_columns));
  }
  /// `panel`: its number, from 0.
  bool is_sampled(int panel, int panel_columns, int index) const {
    if (index % part_length(panel_columns) >= run) return false;
    return panel < panels || (panel - part(index, panel_columns)) % panels == 0;
  }
};

/// What the environment says to the runtime (docs/internals/smpi-runtime.md).
struct Settings {
  std::string cluster_path;     ///< HPLCAST_CLUSTER: cluster.json; empty: the registered model.h, if any
  std::string stats_path;       ///< HPLCAST_STATS: where the statistics go; empty: nowhere
  std::uint64_t seed = 1;       ///< HPLCAST_SEED
  bool noise = true;            ///< HPLCAST_NOISE: on or off; off: every kernel takes its expected time
  bool poll_by_waiting = true;  ///< HPLCAST_POLLING: wait or probe; probe: every probe of a polling loop is simulated
  bool fast =
      false;  ///< HPLCAST_MODE: exact or fast; fast: meetings in place of the exchanges of a panel factorisation
  int fast_panels = 0;  ///< HPLCAST_FAST_PANELS: as many panels are factored as in fast mode, in exact mode, too
  SampledExchanges sampled_exchanges;  ///< HPLCAST_SAMPLED_EXCHANGES: RUN/PERIOD/PANELS
  std::pair<int, int> window{0, -1};   ///< HPLCAST_WINDOW: FIRST-LAST, the panels that HPL factors; last < 0: all
  bool uniform_pivots =
      true;  ///< HPLCAST_PIVOTS: uniform or lowest; lowest: the first process row that can has every pivot
  bool direct_messages = true;  ///< HPLCAST_MESSAGES: direct or smpi; smpi: every message takes SMPI's way
  bool own_flows = true;      ///< HPLCAST_FLOWS: own or simgrid, which moves messages; those of other programs: simgrid
  bool detours = true;        ///< HPLCAST_DETOURS: on or off; off: the cluster's detours never come
  bool network_noise = true;  ///< HPLCAST_NETWORK_NOISE: on or off; off: every message takes its expected time
  bool load = false;          ///< HPLCAST_LOAD: on or off; on: kernels load the simulated hosts
  EnergySettings energy;      ///< HPLCAST_ENERGY: on or off; HPLCAST_POWER_BIN: seconds; HPLCAST_POWER_HOSTS: on or off
  bool program = false;       ///< HPLCAST_PROGRAM: on or off; on: a program other than HPL, all of whose run is timed
  /// HPLCAST_REST: code that is neither routine nor region (docs/use/any-program.md). zero: takes no time; model: as
  /// much of the time in routines as observed; bench: its CPU time here.
  enum class Rest { zero, model, bench } rest = Rest::zero;
  bool numerics = false;  ///< HPLCAST_NUMERICS: run or model; run: routines are executed, too
  std::string real_blas;  ///< HPLCAST_REAL_BLAS: path of the library that executes them; empty: that of the system
  std::size_t share_above_bytes = 0;  ///< HPLCAST_SHARE_ABOVE: larger allocations share their memory; 0: none
};

/// `lookup` gives the value of a variable, or null. @throws DomainError naming the variable.
Settings read_settings(const std::function<const char*(const char*)>& lookup);

/// read_settings() of this process's environment.
Settings read_settings();

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

class Runtime;

/// All that belongs to the simulation of this process. Who comes first opens it, without SimGrid: model.h registers
/// itself before main(), the program may allocate before there are ranks, and the platform is built before the runtime.
class Session {
 public:
  /// Those of the environment. @throws core::Error
  const Settings& settings();
  /// Of HPLCAST_CLUSTER, if it is set. @throws core::Error
  const std::optional<Model>& file_model();
  /// Likewise, or else of the registered model.h. @throws core::Error
  std::optional<Model> model();
  /// Hands over the tables of model.h. @throws core::DomainError for a second, different model.
  void register_model(const hplcast_model_table& table);

  std::optional<PlatformCosts> platform;      ///< only with the platform library
  AnnouncedFlows announced_flows;             ///< of SimGrid's network
  std::optional<SharedMemory> shared_memory;  ///< shared_memory() makes it
  Runtime* runtime = nullptr;                 ///< Runtime::instance() makes it

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
