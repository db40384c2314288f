#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// Makes a folder for the files of a simulation, or takes those of an earlier one out of it that would hide that this
/// one left none. Its absolute path. @throws core::Error if it cannot be made.
std::filesystem::path folder_to_keep(const std::filesystem::path& folder);

/// Calls `make(folder)` with the folder `keep`, or if that is empty with a temporary one. This stays if an error names
/// it, unless the disk is full. Its result.
template <typename Make>
auto made_in(const std::filesystem::path& keep, const char* prefix, const Make& make) {
  if (!keep.empty()) return make(folder_to_keep(keep));
  core::TemporaryFolder folder(prefix);
  try {
    return make(folder.path());
  } catch (const core::StorageError&) {
    throw;
  } catch (const core::Error& error) {
    if (std::string(error.what()).find(folder.path().string()) != std::string::npos) folder.keep();
    throw;
  }
}

/// Writes the files of a simulation of `ranks` ranks, cluster.json and hostfile (a host per rank) among them. The
/// platform, which is returned, is `platform_library`, which reads cluster.json; if that is empty, a platform.xml is
/// written, with its losses (docs/formats/platform-xml.md).
/// @throws core::Error if a file cannot be written.
std::filesystem::path write_simulation_files(const core::ClusterModel& cluster, int ranks,
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

/// Throws core::StorageError if the disk is to blame that a simulation has failed: a program that met a limit of file
/// sizes (`status`), said in its output that there is no space, or left a folder where nothing can be written now.
void throw_if_storage(const std::filesystem::path& folder, const std::filesystem::path& output, int status);

/// Whether smpirun, a shell script that quotes nothing, hands a text on as it is, and SimGrid's options and LD_PRELOAD
/// take it for one word.
bool is_plain(const std::string& text);

/// The path of a file that such a script can be given: the one that it has, or one by a link in `links` to its folder,
/// so that libraries beside it ($ORIGIN) are found; to the file, if its own name is such. `seen_as`: what `links` is
/// for the program: "." if it runs there. @throws core::Error if there can be no link.
std::string plain_path(const std::filesystem::path& file, const std::filesystem::path& links,
                       const std::filesystem::path& seen_as);

}  // namespace hplcast::study
