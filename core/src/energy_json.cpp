#include "energy_json.hpp"

#include <array>

#include "hplcast/core/energy_text.hpp"

namespace hplcast::core {

std::string energy_text(const Energy& energy) {
  return detail::to_json(energy).dump();
}

}  // namespace hplcast::core

namespace hplcast::core::detail {

namespace {

struct Field {
  const char* name;
  double Energy::*member;
};
constexpr std::array<Field, 7> fields = {{{"energy_j", &Energy::energy_j},
                                          {"mean_power_w", &Energy::mean_power_w},
                                          {"gflops_per_w", &Energy::gflops_per_w},
                                          {"idle_j", &Energy::idle_j},
                                          {"awake_j", &Energy::awake_j},
                                          {"awake_share", &Energy::awake_share},
                                          {"network_j", &Energy::network_j}}};

Json levels_json(const PowerLevels& levels) {
  Json json = {{"level1_w", levels.level1_w}, {"level2_w", levels.level2_w}, {"level3_j", levels.level3_j}};
  Json& sampling = json["sampling"] = Json::array();
  for (const SamplingError& one : levels.sampling)
    sampling.push_back({{"interval_s", one.interval_s},
                        {"samples", one.samples},
                        {"worst_error", one.worst},
                        {"mean_error", one.mean}});
  return json;
}

PowerLevels levels_from(const Node& node) {
  refuse_others(node, {"level1_w", "level2_w", "level3_j", "sampling"});
  PowerLevels levels{node.at("level1_w").number(), node.at("level2_w").numbers(), node.at("level3_j").number(), {}};
  const Node sampling = node.at("sampling");
  for (std::size_t i = 0; i < sampling.size_of_array(); ++i) {
    const Node one = sampling.at(i);
    refuse_others(one, {"interval_s", "samples", "worst_error", "mean_error"});
    levels.sampling.push_back({one.at("interval_s").number(), one.at("samples").integer<int>(),
                               one.at("worst_error").number(), one.at("mean_error").number()});
  }
  return levels;
}

}  // namespace

Json to_json(const Energy& energy) {
  Json json = Json::object();
  for (const Field& field : fields) json[field.name] = energy.*field.member;
  Json& states = json["states"] = Json::object();
  for (const StateEnergy& state : energy.states)
    states[state.name] = {{"time_s", state.time_s}, {"energy_j", state.energy_j}};
  if (!energy.unstated.empty()) json["unstated"] = energy.unstated;
  if (energy.levels) json["levels"] = levels_json(*energy.levels);
  return json;
}

Energy energy_from(const Node& node) {
  std::vector<std::string> known = {"states", "unstated", "levels"};
  for (const Field& field : fields) known.emplace_back(field.name);
  refuse_others(node, known);
  Energy energy;
  for (const Field& field : fields) {
    energy.*field.member = node.at(field.name).number();
    if (!(energy.*field.member >= 0)) node.at(field.name).fail("expected a number of at least 0");
  }
  const Node states = node.at("states");
  for (const auto& [name, value] : states.object().items()) {
    const Node state = states.at(name.c_str());
    refuse_others(state, {"time_s", "energy_j"});
    energy.states.push_back({name, state.at("time_s").number(), state.at("energy_j").number()});
  }
  if (node.has("unstated")) energy.unstated = node.at("unstated").texts();
  if (node.has("levels")) energy.levels = levels_from(node.at("levels"));
  return energy;
}

}  // namespace hplcast::core::detail
