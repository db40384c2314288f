#include "statistics.hpp"

#include <istream>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::study {

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
    const auto json = nlohmann::ordered_json::parse(core::read_json_text(in, name));  // phases keep their order
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

}  // namespace hplcast::study
