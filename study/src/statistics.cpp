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

CountsAtPanels counts_from(const nlohmann::ordered_json& panels) {
  CountsAtPanels counts;
  for (const char* kind : {"kernels", "messages", "phases"}) {
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
    if (json.contains("phases")) statistics.phases = phases_from(json.at("phases"));
    if (json.contains("blocked")) statistics.blocked = blocked_from(json.at("blocked"));
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not the statistics of a simulated HPL: ") + error.what());
  }
  return statistics;
}

}  // namespace hplcast::study
