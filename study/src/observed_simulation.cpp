#include "observed_simulation.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

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
