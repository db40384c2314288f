#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// The files and options of smpirun, below one folder.
struct SimulationFiles {
  std::filesystem::path cluster;     ///< cluster.json, for the runtime of the simulated program
  std::filesystem::path platform;    ///< the platform library; without it platform.xml
  std::filesystem::path hostfile;    ///< one host per rank
  std::vector<std::string> options;  ///< --cfg=... of SimGrid
};

/// Writes the files of a simulation of `ranks` ranks. The platform is `platform_library`, which reads cluster.json; if
/// that is empty, a platform.xml is written, with its losses (docs/formats/platform-xml.md).
/// @throws core::Error if a file cannot be written.
SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder);

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

/// True if a trace is asked for: it shows messages that the fast mode does not have.
bool observes_messages(const Observation& observation);

/// Tells the simulated program and SMPI what to keep; progress goes to a file in the command's directory.
void observe(core::Command& command, const Observation& observation);

/// Progress of a command that observe() prepared; nothing before the first panel.
std::optional<SimulationProgress> progress_of(const core::Command& command);

/// Mean, smallest and largest time over the ranks of each phase, in the order of HPL_pdgesv.
std::vector<core::PhaseSummary> summarised(const std::vector<RankPhases>& phases);

/// One row per rank and phase. @throws core::Error if the file cannot be written.
void write_phases_csv(const std::filesystem::path& path, const std::vector<RankPhases>& phases);

/// The messages that the ranks wait for, for an error message: the first few in full.
std::string blocked_text(const Statistics& statistics);

}  // namespace hplcast::study
