#pragma once

#include <filesystem>
#include <string>

#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// Observations of a simulation to keep besides its result (docs/use/traces.md). Empty paths: not kept.
struct Observation {
  std::filesystem::path trace;        ///< Chrome's JSON, for Perfetto
  std::string trace_ranks;            ///< first-last: only these are in the trace; empty: all
  std::filesystem::path paje;         ///< SMPI's own trace, for Paje viewers; messages then take SMPI's way
  bool phases = false;                ///< fills Prediction::phases
  std::filesystem::path phases_csv;   ///< phases of every rank
  bool energy = false;                ///< fills Prediction::energy; the cluster must have power
  std::filesystem::path power_trace;  ///< CSV of the power over time; with energy
  double bin_s = 1;                   ///< of that, and of what meters would read
  bool power_hosts = false;           ///< power_trace has columns of every host
  std::string log;                    ///< categories of SimGrid's log, such as hplcast_rank.thres:verbose
};

/// Whether something is asked for that is only whole in a simulation of all panels.
bool is_observed(const Observation& observation);

/// How far a simulation is.
struct SimulationProgress {
  double fraction = 0;     ///< of its work, 0 to 1
  double simulated_s = 0;  ///< simulated time
  double messages = 0;     ///< of a program other than HPL, whose fraction is not known
};

}  // namespace hplcast::study
