#include "study/run/simulation_files.hpp"

#include <algorithm>
#include <fstream>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::study {

SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder) {
  SimulationFiles files;
  files.cluster = folder / "cluster.json";
  files.hostfile = folder / "hostfile";
  files.options = platforms::smpi_options(cluster);
  core::write_file(files.cluster, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  core::write_file(files.hostfile, [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  if (!platform_library.empty()) {  // messages are simulated several times faster with it
    files.platform = platform_library;
  } else {
    files.platform = folder / "platform.xml";
    core::write_file(files.platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
  }
  return files;
}

namespace {

std::vector<RankPhases> phases_from(const nlohmann::ordered_json& json) {
  std::vector<RankPhases> phases;
  for (const auto& [name, times] : json.items()) {
    phases.push_back(
        {name, times.at("elapsed_s").get<std::vector<double>>(), times.at("kernels_s").get<std::vector<double>>(),
         times.at("messages_s").get<std::vector<double>>(), times.at("waiting_s").get<std::vector<double>>(),
         times.value("detours_s", std::vector<double>())});
  }
  return phases;
}

std::vector<BlockedRank> blocked_from(const nlohmann::ordered_json& json) {
  std::vector<BlockedRank> ranks;
  for (const auto& one : json) {
    ranks.push_back({one.at("rank").get<int>(), one.at("operation").get<std::string>(), one.at("source").get<int>(),
                     one.at("destination").get<int>(), one.at("tag").get<int>(), one.at("since_s").get<double>(),
                     one.at("phase").get<std::string>()});
  }
  return ranks;
}

SimulatedEnergy energy_from(const nlohmann::ordered_json& json) {
  SimulatedEnergy result;
  core::Energy& energy = result.energy;
  energy.idle_j = json.at("idle_j").get<double>();
  energy.awake_j = json.at("awake_j").get<double>();
  energy.awake_share = json.at("awake_share").get<double>();
  energy.network_j = json.at("network_j").get<double>();
  for (const auto& [name, state] : json.at("states").items())
    energy.states.push_back({name, state.at("time_s").get<double>(), state.at("energy_j").get<double>()});
  core::PowerTrace& trace = result.trace;
  trace.time_s = json.at("time_s").get<double>();
  if (!json.contains("bin_s")) return result;
  trace.bin_s = json.at("bin_s").get<double>();
  trace.bins_j = json.at("bins_j").get<std::vector<double>>();
  if (json.contains("hosts"))
    for (const auto& [name, bins] : json.at("hosts").items())
      trace.hosts.push_back({name, bins.get<std::vector<double>>()});
  return result;
}

CountsAtPanels counts_from(const nlohmann::ordered_json& panels) {
  CountsAtPanels counts;
  for (const char* kind : {"kernels", "messages", "detours", "phases", "states"}) {
    if (!panels.contains(kind)) continue;
    for (const auto& [name, fields] : panels.at(kind).items()) {
      for (const auto& [field, values] : fields.items())
        counts[std::string(kind) + "/" + name + "/" + field] = values.get<std::vector<double>>();
    }
  }
  return counts;
}

}  // namespace

Statistics read_statistics(std::istream& in, const std::string& name) {
  Statistics statistics;
  try {
    const auto json =
        core::parse_json<nlohmann::ordered_json>(core::read_json_text(in, name));  // phases keep their order
    statistics.simulator = json.at("simulator").get<std::string>();
    statistics.mode = json.value("mode", "exact");
    statistics.fast_error_95_s = json.value("fast_error_95_s", 0.0);
    statistics.model_sha256 = json.at("model_sha256").get<std::string>();
    statistics.deadlock = json.at("deadlock").get<bool>();
    statistics.times_s = json.at("times_s").get<std::vector<double>>();
    for (const auto& [kernel, count] : json.at("kernels").items()) {
      statistics.kernels[kernel] = {count.at("calls").get<std::uint64_t>(),
                                    count.at("outside_range").get<std::uint64_t>(), count.at("time_s").get<double>(),
                                    count.at("flop").get<double>()};
    }
    for (const auto& [operation, count] : json.at("messages").items()) {
      statistics.messages[operation] = {count.at("calls").get<std::uint64_t>(),
                                        count.at("outside_range").get<std::uint64_t>(),
                                        count.at("bytes").get<double>()};
    }
    if (json.contains("panels")) {
      statistics.panel_marks_s = json.at("panels").at("marks_s").get<std::vector<double>>();
      statistics.counts_at_panels = counts_from(json.at("panels"));
    }
    statistics.end_s = json.value("end_s", 0.0);
    statistics.detours_s = json.value("detours_s", std::vector<double>());
    if (json.contains("phases")) statistics.phases = phases_from(json.at("phases"));
    if (json.contains("energy")) statistics.energy = energy_from(json.at("energy"));
    if (json.contains("blocked")) statistics.blocked = blocked_from(json.at("blocked"));
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not the statistics of a simulated HPL: ") + error.what());
  }
  return statistics;
}

namespace fs = std::filesystem;

bool observes_messages(const Observation& observation) {
  return !observation.trace.empty() || !observation.paje.empty();
}

bool is_observed(const Observation& observation) {
  return observes_messages(observation) || !observation.phases_csv.empty() || !observation.power_trace.empty() ||
         !observation.log.empty();
}

void observe(core::Command& command, const Observation& observation) {
  command.environment["HPLCAST_PROGRESS"] = (command.directory / "progress").string();
  if (observation.phases || !observation.phases_csv.empty()) command.environment["HPLCAST_PHASES"] = "on";
  if (observation.energy) {
    command.environment["HPLCAST_ENERGY"] = "on";
    command.environment["HPLCAST_POWER_BIN"] = core::shortest(observation.bin_s);
    command.environment["HPLCAST_POWER_HOSTS"] = observation.power_hosts ? "on" : "off";
  }
  if (!observation.trace.empty()) command.environment["HPLCAST_TRACE"] = fs::absolute(observation.trace).string();
  if (!observation.trace_ranks.empty()) command.environment["HPLCAST_TRACE_RANKS"] = observation.trace_ranks;
  // Options of SimGrid stand before the program.
  if (!observation.log.empty()) command.arguments.insert(command.arguments.end() - 1, "--log=" + observation.log);
  if (observation.paje.empty()) return;
  command.environment["HPLCAST_MESSAGES"] = "smpi";  // SMPI traces only what it does itself
  command.arguments.insert(command.arguments.end() - 1,
                           {"--cfg=tracing:yes", "--cfg=tracing/smpi:yes", "--cfg=tracing/smpi/sleeping:yes",
                            "--cfg=tracing/filename:" + fs::absolute(observation.paje).string()});
}

std::optional<SimulationProgress> progress_of(const core::Command& command) {
  std::ifstream in(command.environment.at("HPLCAST_PROGRESS"));
  SimulationProgress progress;
  if (in >> progress.fraction >> progress.simulated_s >> progress.messages) return progress;
  return std::nullopt;
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

std::string blocked_text(const Statistics& statistics) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < statistics.blocked.size(); ++i) {
    if (i == shown) {
      text += "\n  and " + std::to_string(statistics.blocked.size() - shown) + " more ranks";
      break;
    }
    const BlockedRank& one = statistics.blocked[i];
    text += (i == 0 ? "rank " : "\n  rank ") + std::to_string(one.rank) + " waits in " + one.operation;
    const int peer = one.rank == one.source ? one.destination : one.source;
    if (peer >= 0) text += " for rank " + std::to_string(peer) + ", tag " + std::to_string(one.tag);
    text += ", since " + core::shortest(one.since_s) + " s";
    if (!one.phase.empty()) text += " (" + one.phase + ")";
  }
  return text;
}

}  // namespace hplcast::study
