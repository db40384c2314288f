#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/process.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// The files and options of smpirun, below one folder.
struct SimulationFiles {
  std::filesystem::path platform;    ///< the platform library; without it platform.xml
  std::filesystem::path hostfile;    ///< one host per rank
  std::vector<std::string> options;  ///< --cfg=... of SimGrid
};

/// Writes the files of a simulation of `ranks` ranks, cluster.json among them. The platform is `platform_library`,
/// which reads cluster.json; if that is empty, a platform.xml is written, with its losses
/// (docs/formats/platform-xml.md).
/// @throws core::Error if a file cannot be written.
SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder);

using core::RankPhases;

/// Result that the simulated program has left in `folder`; nothing if there is none.
/// @throws core::ParseError if it is not what the runtime writes.
std::optional<core::SimulationResult> result_in(const std::filesystem::path& folder);

/// Writes the settings of a simulation into its folder, where the files of write_simulation_files() and the result are,
/// and names them to the program.
void write_settings(core::Command& command, const std::filesystem::path& folder, core::SimulationSettings settings);

/// How far the simulation in `folder` is; nothing before the first panel.
std::optional<SimulationProgress> progress_in(const std::filesystem::path& folder);

/// True if a trace is asked for: it shows messages that the fast mode does not have.
bool observes_messages(const Observation& observation);

/// Tells the simulated program and SMPI what to keep.
void observe(core::Command& command, core::SimulationSettings& settings, const Observation& observation);

/// The times of a phase, by the names of their columns in CSV; the last one may be empty.
struct RankPhaseField {
  const char* name;
  std::vector<double> RankPhases::*member;
};
inline constexpr std::array<RankPhaseField, 5> rank_phase_fields = {{{"elapsed_s", &RankPhases::elapsed_s},
                                                                     {"kernels_s", &RankPhases::kernels_s},
                                                                     {"messages_s", &RankPhases::messages_s},
                                                                     {"waiting_s", &RankPhases::waiting_s},
                                                                     {"detours_s", &RankPhases::detours_s}}};

/// Mean, smallest and largest time over the ranks of each phase, in the order of HPL_pdgesv.
std::vector<core::PhaseSummary> summarised(const std::vector<RankPhases>& phases);

/// One row per rank and phase. @throws core::Error if the file cannot be written.
void write_phases_csv(const std::filesystem::path& path, const std::vector<RankPhases>& phases);

/// SimGrid ends as if nothing were wrong when no rank can go on. @throws core::program_failure() then, with the
/// messages that the ranks wait for: the first few in full.
void refuse_deadlock(const core::Command& command, const core::SimulationResult& result);

/// Whether a shell script that quotes nothing, such as smpirun, hands a text on as it is.
bool is_plain(const std::string& text);

}  // namespace hplcast::study
