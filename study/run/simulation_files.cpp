#include "study/run/simulation_files.hpp"

#include <signal.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>
#include <system_error>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/files.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::study {

namespace {

// Beside the settings, so that the folder can be moved, and smpirun be called in it again.
constexpr const char* cluster_file = "cluster.json";
constexpr const char* result_file = "statistics.json";
constexpr const char* progress_file = "progress";

}  // namespace

fs::path folder_to_keep(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw core::InputError("cannot make " + folder.string() + ": " + error.message());
  for (const char* stale : {result_file, progress_file}) fs::remove(folder / stale, error);
  return fs::absolute(folder);
}

fs::path write_simulation_files(const core::ClusterModel& cluster, int ranks, const fs::path& platform_library,
                                const fs::path& folder) {
  core::write_file(folder / cluster_file, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  core::write_file(folder / "hostfile", [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  if (!platform_library.empty()) return platform_library;  // messages are simulated several times faster with it
  const fs::path platform = folder / "platform.xml";
  core::write_file(platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
  return platform;
}

void write_settings(core::Command& command, const fs::path& folder, core::SimulationSettings settings) {
  settings.cluster = cluster_file;
  settings.result = result_file;
  settings.observation.progress = progress_file;
  const std::filesystem::path file = folder / "settings.json";
  core::write_file(file, [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
  command.environment[HPLCAST_VARIABLE_SIMULATION] = file.string();
}

std::optional<core::SimulationResult> result_in(const fs::path& folder) {
  if (!std::filesystem::exists(folder / result_file)) return std::nullopt;
  return core::read_from(folder / result_file, core::read_simulation_result);
}

std::optional<SimulationProgress> progress_in(const fs::path& folder) {
  return core::read_progress(folder / progress_file);
}

bool observes_messages(const Observation& observation) {
  return !observation.trace.empty() || !observation.paje.empty();
}

bool is_observed(const Observation& observation) {
  return observes_messages(observation) || !observation.phases_csv.empty() || !observation.power_trace.empty() ||
         !observation.log.empty();
}

void observe(core::Command& command, core::SimulationSettings& settings, const Observation& observation) {
  settings.observation.phases = observation.phases || !observation.phases_csv.empty();
  if (observation.energy) settings.energy = {observation.bin_s, observation.power_hosts};
  if (!observation.trace.empty()) settings.observation.trace = fs::absolute(observation.trace).string();
  if (!observation.trace_ranks.empty())
    settings.observation.trace_ranks = core::index_range_from("ranks of the trace", observation.trace_ranks);
  settings.observation.trace_begin_s = observation.trace_begin_s;
  settings.observation.trace_end_s = observation.trace_end_s;
  // Options of SimGrid stand before the program.
  if (!observation.log.empty()) command.arguments.insert(command.arguments.end() - 1, "--log=" + observation.log);
  if (observation.paje.empty()) return;
  settings.diagnosis.direct_messages = false;  // SMPI traces only what it does itself
  command.arguments.insert(
      command.arguments.end() - 1,
      {"--cfg=tracing:yes", "--cfg=tracing/smpi:yes", "--cfg=tracing/smpi/sleeping:yes",
       "--cfg=tracing/filename:" + plain_path(core::part_file(observation.paje), command.directory, ".")});
}

std::vector<core::PhaseSummary> summarised(const std::vector<RankPhases>& phases) {
  std::vector<core::PhaseSummary> summaries;
  for (const RankPhases& phase : phases) {
    if (phase.elapsed_s.empty()) continue;
    const auto [least, most] = std::minmax_element(phase.elapsed_s.begin(), phase.elapsed_s.end());
    summaries.push_back({phase.name, core::mean(phase.elapsed_s), *least, *most, core::mean(phase.kernels_s),
                         core::mean(phase.messages_s), core::mean(phase.waiting_s),
                         phase.detours_s.empty() ? 0 : core::mean(phase.detours_s)});
  }
  return summaries;
}

void write_phases_csv(const fs::path& path, const std::vector<RankPhases>& phases) {
  std::vector<RankPhaseField> fields(rank_phase_fields.begin(), rank_phase_fields.end());
  if (std::all_of(phases.begin(), phases.end(), [](const RankPhases& one) { return one.detours_s.empty(); }))
    fields.pop_back();
  core::write_file(path, [&](std::ostream& out) {
    out << "rank,phase";
    for (const RankPhaseField& field : fields) out << ',' << field.name;
    out << '\n';
    for (const RankPhases& phase : phases) {
      for (std::size_t rank = 0; rank < phase.elapsed_s.size(); ++rank) {
        out << rank << ',' << phase.name;
        for (const RankPhaseField& field : fields) out << ',' << core::shortest((phase.*field.member)[rank]);
        out << '\n';
      }
    }
  });
}

void throw_if_storage(const fs::path& folder, const fs::path& output, int status) {
  constexpr int signals = 128;
  constexpr std::size_t probe_bytes = 1 << 20;
  const std::string where = "the simulation in " + folder.string() + " could not write its files: ";
  if (status == signals + SIGXFSZ)
    throw core::StorageError(where + "a file reached the limit of sizes\n  hint: `ulimit -f` shows it");
  std::ifstream in(output);
  for (std::string line; std::getline(in, line);)
    for (const int reason : {ENOSPC, EDQUOT, EFBIG})
      if (line.find(std::strerror(reason)) != std::string::npos) throw core::StorageError(where + line);
  const fs::path probe = folder / "probe";
  core::write_file(probe, [](std::ostream& out) { out << std::string(probe_bytes, ' '); });
  std::error_code ignored;
  fs::remove(probe, ignored);
}

void refuse_deadlock(const core::Command& command, const core::SimulationResult& result) {
  if (!result.deadlock) return;
  constexpr std::size_t shown = 8;
  std::string blocked;
  for (std::size_t i = 0; i < std::min(shown, result.blocked.size()); ++i) {
    const core::BlockedRank& one = result.blocked[i];
    blocked += (i == 0 ? "rank " : "\n  rank ") + std::to_string(one.rank) + " waits in " + one.operation;
    const int peer = one.rank == one.source ? one.destination : one.source;
    if (peer >= 0) blocked += " for rank " + std::to_string(peer) + ", tag " + std::to_string(one.tag);
    blocked += ", since " + core::shortest(one.since_s) + " s";
    if (!one.phase.empty()) blocked += " (" + one.phase + ")";
  }
  if (result.blocked.size() > shown)
    blocked += "\n  and " + std::to_string(result.blocked.size() - shown) + " more ranks";
  throw core::program_failure(command, 0, "the simulated ranks deadlocked at " + core::shortest(result.end_s) + " s",
                              blocked);
}

bool is_plain(const std::string& text) {
  return text.find_first_of(" \t\n'\"\\$`&;|<>()*?[]#~{},:") == std::string::npos;
}

std::string plain_path(const fs::path& file, const fs::path& links, const fs::path& seen_as) {
  const fs::path path = fs::absolute(file), name = path.filename();
  const bool has_plain_name = is_plain(name.string());
  if (is_plain(path.string())) return path.string();
  const fs::path target = has_plain_name ? path.parent_path() : path;
  const fs::path link = "link-" + core::sha256_hex(target.string()).substr(0, 8);
  std::error_code error;
  fs::create_symlink(target, links / link, error);
  if (error && error != std::errc::file_exists) core::throw_write_error("make a link in", links, error.value());
  return has_plain_name ? seen_as / link / name : seen_as / link;
}

}  // namespace hplcast::study
