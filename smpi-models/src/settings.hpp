#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hplcast::smpi_models {

/// In fast mode the first `run` of every `period` exchanges of a panel are made with real messages.
struct RealExchanges {
  int run = 4;
  int period = 32;                     ///< more in wide panels:
  static constexpr int most_runs = 8;  ///< in a panel
};

/// What the environment says to the runtime (docs/smpi-runtime.md).
struct Settings {
  std::string cluster_path;     ///< HPLCAST_CLUSTER: cluster.json; empty: the registered model.h, if any
  std::string stats_path;       ///< HPLCAST_STATS: where the statistics go; empty: nowhere
  std::uint64_t seed = 1;       ///< HPLCAST_SEED
  bool noise = true;            ///< HPLCAST_NOISE: on or off; off: every kernel takes its expected time
  bool poll_by_waiting = true;  ///< HPLCAST_POLLING: wait or probe; probe: every probe of a polling loop is simulated
  bool fast =
      false;  ///< HPLCAST_MODE: exact or fast; fast: meetings in place of the exchanges of a panel factorisation
  RealExchanges real_exchanges;  ///< HPLCAST_REAL_EXCHANGES: RUN/PERIOD
  bool uniform_pivots =
      true;  ///< HPLCAST_PIVOTS: uniform or lowest; lowest: the first process row that can has every pivot
  bool direct_messages = true;  ///< HPLCAST_MESSAGES: direct or smpi; smpi: every message takes SMPI's way
  bool network_noise = true;    ///< HPLCAST_NETWORK_NOISE: on or off; off: every message takes its expected time
};

/// `lookup` gives the value of a variable, or null. @throws DomainError naming the variable.
Settings read_settings(const std::function<const char*(const char*)>& lookup);

/// read_settings() of this process's environment.
Settings read_settings();

}  // namespace hplcast::smpi_models
