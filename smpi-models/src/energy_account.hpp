#pragma once

#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/energy.hpp"
#include "state_meter.hpp"

namespace hplcast::smpi_models {

/// What to keep of the power of a run.
struct EnergySettings {
  bool on = false;
  double bin_s = 0;    ///< of the power over time; 0: not kept
  bool hosts = false;  ///< of every host
};

/// Seconds and joules by state, summed over the ranks.
struct StateSums {
  ByState seconds{}, joules{};
};

/// The energy of the timed part of a run, at the wall (docs/models/energy.md). Only hosts with ranks count.
struct EnergyTotals {
  double begun_s = 0;  ///< by the first rank, on the simulated clock
  double time_s = 0;   ///< of the rank that took longest
  double idle_j = 0, awake_j = 0;
  double awake_share = 1;  ///< of the time that the hosts could be awake
  double network_j = 0;    ///< the share of these hosts
  StateSums states;
  core::PowerTrace trace;  ///< without bins if there are none; times after the begin
  double energy_j() const {
    return std::accumulate(states.joules.begin(), states.joules.end(), idle_j + awake_j + network_j);
  }
};

/// Meters of all ranks and hosts.
class EnergyAccount {
 public:
  /// @throws core::DomainError for a cluster without power. `cluster` must outlive this.
  EnergyAccount(const core::ClusterModel& cluster, const EnergySettings& settings);

  /// The meter of a new rank on a CPU; stays where it is.
  StateMeter& add_rank(int host, int cpu);
  /// The timed part begins for a rank. No rank begins another one before all have ended this.
  void begin(StateMeter& meter, double now_s);
  /// Adds to the sums of all ranks what one has done until it comes to mark 0, 1 ... of the panels of a window.
  void begin_panel(std::size_t mark, const StateMeter& meter);
  const std::vector<StateSums>& at_marks() const { return at_marks_; }
  /// When all is over. Once.
  EnergyTotals end();
  const std::deque<StateMeter>& meters() const { return meters_; }

 private:
  HostMeter& host_meter(int host);
  void end_bins(EnergyTotals& totals, double network_w);
  const core::ClusterModel& cluster_;
  EnergySettings settings_;
  PowerBins all_;
  std::map<int, PowerBins> bins_;  // by host
  std::map<int, HostMeter> hosts_;
  std::deque<StateMeter> meters_;
  std::size_t begun_ = 0;  // times that a rank has begun
  double origin_s_ = 0;    // when the first did
  std::vector<StateSums> at_marks_;
};

}  // namespace hplcast::smpi_models
