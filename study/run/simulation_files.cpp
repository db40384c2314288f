#include "study/run/simulation_files.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/files.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::study {

namespace {

// Beside the settings, so that the folder can be moved, and smpirun be called in it again.
constexpr const char* cluster_file = "cluster.json";
constexpr const char* result_file = "statistics.json";
constexpr const char* progress_file = "progress";

}  // namespace

SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder) {
  SimulationFiles files;
  files.hostfile = folder / "hostfile";
  files.options = platforms::smpi_options(cluster);
  core::write_file(folder / cluster_file, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  core::write_file(files.hostfile, [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  if (!platform_library.empty()) {  // messages are simulated several times faster with it
    files.platform = platform_library;
  } else {
    files.platform = folder / "platform.xml";
    core::write_file(files.platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
  }
  return files;
}

void write_settings(core::Command& command, const std::filesystem::path& folder, core::SimulationSettings settings) {
  settings.cluster = cluster_file;
  settings.result = result_file;
  settings.observation.progress = progress_file;
  const std::filesystem::path file = folder / "settings.json";
  core::write_file(file, [&](std::ostream& out) { core::write_simulation_settings(out, settings); });
  command.environment[HPLCAST_VARIABLE_SIMULATION] = file.string();
}

std::optional<core::SimulationResult> result_in(const std::filesystem::path& folder) {
  std::optional<core::SimulationResult> result;
  if (std::filesystem::exists(folder / result_file))
    core::read_file(folder / result_file, [&](std::istream& in, const std::string& name) {
      result = core::read_simulation_result(in, name);
    });
  return result;
}

std::optional<SimulationProgress> progress_in(const std::filesystem::path& folder) {
  return core::read_progress(folder / progress_file);
}

namespace fs = std::filesystem;

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
  // Options of SimGrid stand before the program.
  if (!observation.log.empty()) command.arguments.insert(command.arguments.end() - 1, "--log=" + observation.log);
  if (observation.paje.empty()) return;
  settings.diagnosis.direct_messages = false;  // SMPI traces only what it does itself
  command.arguments.insert(command.arguments.end() - 1,
                           {"--cfg=tracing:yes", "--cfg=tracing/smpi:yes", "--cfg=tracing/smpi/sleeping:yes",
                            "--cfg=tracing/filename:" + fs::absolute(observation.paje).string()});
}

std::vector<core::PhaseSummary> summarised(const std::vector<RankPhases>& phases) {
  std::vector<core::PhaseSummary> summaries;
  for (const RankPhases& phase : phases) {
    const auto mean = [](const std::vector<double>& values) {
      double sum = 0;
      for (const double value : values) sum += value;
      return values.empty() ? 0 : sum / static_cast<double>(values.size());
    };
    if (phase.elapsed_s.empty()) continue;
    const auto [least, most] = std::minmax_element(phase.elapsed_s.begin(), phase.elapsed_s.end());
    summaries.push_back({phase.name, mean(phase.elapsed_s), *least, *most, mean(phase.kernels_s),
                         mean(phase.messages_s), mean(phase.waiting_s), mean(phase.detours_s)});
  }
  return summaries;
}

void write_phases_csv(const fs::path& path, const std::vector<RankPhases>& phases) {
  const bool detours =
      std::any_of(phases.begin(), phases.end(), [](const auto& one) { return !one.detours_s.empty(); });
  core::write_file(path, [&](std::ostream& out) {
    out << "rank,phase,elapsed_s,kernels_s,messages_s,waiting_s" << (detours ? ",detours_s\n" : "\n");
    for (const RankPhases& phase : phases) {
      for (std::size_t rank = 0; rank < phase.elapsed_s.size(); ++rank) {
        out << rank << ',' << phase.name << ',' << core::shortest(phase.elapsed_s[rank]) << ','
            << core::shortest(phase.kernels_s[rank]) << ',' << core::shortest(phase.messages_s[rank]) << ','
            << core::shortest(phase.waiting_s[rank]);
        if (detours) out << ',' << core::shortest(phase.detours_s[rank]);
        out << '\n';
      }
    }
  });
}

std::string blocked_text(const core::SimulationResult& result) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < result.blocked.size(); ++i) {
    if (i == shown) {
      text += "\n  and " + std::to_string(result.blocked.size() - shown) + " more ranks";
      break;
    }
    const core::BlockedRank& one = result.blocked[i];
    text += (i == 0 ? "rank " : "\n  rank ") + std::to_string(one.rank) + " waits in " + one.operation;
    const int peer = one.rank == one.source ? one.destination : one.source;
    if (peer >= 0) text += " for rank " + std::to_string(peer) + ", tag " + std::to_string(one.tag);
    text += ", since " + core::shortest(one.since_s) + " s";
    if (!one.phase.empty()) text += " (" + one.phase + ")";
  }
  return text;
}

}  // namespace hplcast::study
