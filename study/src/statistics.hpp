#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// The times of every rank in one phase of HPL, in seconds (docs/use/traces.md).
struct RankPhases {
  std::string name;
  std::vector<double> elapsed_s, kernels_s, messages_s, waiting_s;
  std::vector<double> detours_s = {};  ///< empty: there were none
};

/// A rank that was in an MPI call when nothing went on any more. A source or destination of -1 is not known.
struct BlockedRank {
  int rank = 0;
  std::string operation;
  int source = -1, destination = -1, tag = 0;
  double since_s = 0;
  std::string phase;  ///< empty: none
};

/// Counts of kernels and messages that all ranks made before each mark of panels: by names as in "kernels/dgemm/calls".
using CountsAtPanels = std::map<std::string, std::vector<double>>;

/// The energy that the runtime counted.
struct SimulatedEnergy {
  core::Energy energy;     ///< its parts; states as sums over the ranks
  core::PowerTrace trace;  ///< without bins if not asked for
};

/// Statistics that the runtime of the simulated program writes (HPLCAST_STATS, docs/internals/smpi-runtime.md).
struct Statistics {
  std::string simulator;        ///< name and version
  std::string mode;             ///< exact or fast
  double fast_error_95_s = 0;   ///< of fast mode, see core::Prediction
  std::string model_sha256;     ///< of the cluster that it used
  bool deadlock = false;        ///< the ranks waited for each other for ever
  std::vector<double> times_s;  ///< exact simulated time of every HPL run
  std::map<std::string, core::KernelCount> kernels;
  std::map<std::string, core::MessageCount> messages;
  std::vector<double> panel_marks_s;      ///< see HplSimulation
  CountsAtPanels counts_at_panels;        ///< of a window
  double end_s = 0;                       ///< simulated time at the end
  std::vector<double> detours_s;          ///< by rank; empty: there were none
  std::vector<RankPhases> phases;         ///< if asked for
  std::optional<SimulatedEnergy> energy;  ///< if asked for
  std::vector<BlockedRank> blocked;       ///< in a deadlock
};

/// @throws core::ParseError if it is not what the runtime writes.
Statistics read_statistics(std::istream& in, const std::string& name);

}  // namespace hplcast::study
