#pragma once

#include <optional>
#include <string>
#include <vector>

/// The energy of a run of HPL, and what meters would read of it (docs/models/energy.md). All of it at the wall.
namespace hplcast::core {

/// What cores did in one of core::CoreState.
struct StateEnergy {
  std::string name;
  double time_s = 0;    ///< mean over the ranks
  double energy_j = 0;  ///< that all cores added
};

/// Power over time, in bins.
struct PowerTrace {
  double bin_s = 1;
  double time_s = 0;           ///< of all bins: the last one may be shorter than the others
  std::vector<double> bins_j;  ///< energy of each
  struct Host {
    std::string name;
    std::vector<double> bins_j;
  };
  std::vector<Host> hosts;  ///< if asked for: of each host; the rest is that of the network

  /// Of bin `index`: bin_s, or less of the last one.
  double duration_s(std::size_t index) const;
  /// Mean power in bin `index` of `joules`, which are bins_j or those of a host.
  double power_w(const std::vector<double>& joules, std::size_t index) const {
    return joules[index] / duration_s(index);
  }
};

/// What a meter with one reading every `interval_s` is off the mean power, over all instants at which the first
/// reading may be taken: relative, without sign.
struct SamplingError {
  double interval_s = 0;
  int samples = 0;  ///< least number of readings in the run
  double worst = 0, mean = 0;
};

/// What the levels of the EE HPC Working Group's methodology 2.0, which Green500 asks for, report of one run.
struct PowerLevels {
  double level1_w = 0;           ///< mean of the samples of the whole core phase, one per second from its begin
  std::vector<double> level2_w;  ///< of equal tenths of the core phase
  double level3_j = 0;           ///< the energy that was metered
  std::vector<SamplingError> sampling;
};

/// A meter that reads every `interval_s` the power of the bin that it is in. @throws DomainError for an interval that
/// is shorter than a bin or longer than the trace.
SamplingError sampling_error(const PowerTrace& trace, double interval_s);
/// Nothing if the trace is shorter than a minute, or has bins of more than a second: no level allows it.
/// Errors are told of intervals of 1, 10, 30 and 60 s that give at least 10 samples (decision of 2023).
std::optional<PowerLevels> power_levels(const PowerTrace& trace);

/// The energy of a predicted run.
struct Energy {
  double energy_j = 0;      ///< of all parts below
  double mean_power_w = 0;  ///< energy_j / time_s of the run
  double gflops_per_w = 0;
  double idle_j = 0;       ///< of the hosts that the run uses, if nothing ran on them
  double awake_j = 0;      ///< more, while any of their cores is active
  double awake_share = 1;  ///< of the time, mean over these hosts
  double network_j = 0;    ///< the share of these hosts
  std::vector<StateEnergy> states;
  std::vector<std::string> unstated;  ///< states that the power model says nothing of: taken as 0 W
  std::optional<PowerLevels> levels;

  /// Energy, mean power and rate from the parts.
  void add_up(double time_s, double gflops);
};

/// As JSON, with the keys of `energy` in prediction.json (docs/formats/prediction-json.md).
std::string energy_text(const Energy& energy);

}  // namespace hplcast::core
