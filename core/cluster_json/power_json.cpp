#include <algorithm>

#include "core/cluster_json/cluster_pieces.hpp"
#include "core/cluster_json/schema_walk.hpp"
#include "hplcast/core/power_model.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

using detail::Json;
using detail::Node;

namespace {

Json to_json(const Watts& watts) {
  return std::visit(Visitor{[](const Watts::Coefficients& one) { return one.size() == 1 ? Json(one[0]) : Json(one); },
                            [](const Watts::Table& table) {
                              return Json({{"ghz", table.ghz}, {"w", table.w}});
                            }},
                    watts.law());
}

Watts watts_from(const Node& node) {
  return node.made([&] {
    if (node.raw().is_array()) return Watts::polynomial(node.numbers());
    if (node.raw().is_object()) return Watts::table({node.at("ghz").numbers(), node.at("w").numbers()});
    return Watts(node.number());
  });
}

/// In the order of the states, `default` first: a text that does not depend on how a model was made.
template <typename Value, typename ToJson>
Json by_state(const std::map<std::string, Value>& values, ToJson to_json) {
  Json json = Json::object();
  const auto add = [&](const std::string& name) {
    const auto found = values.find(name);
    if (found != values.end()) json[name] = to_json(found->second);
  };
  add(default_state);
  for (int state = 0; state < core_state_count; ++state) add(to_string(static_cast<CoreState>(state)));
  return json;
}

Json states_json(const std::map<std::string, Watts>& states) {
  return by_state(states, [](const Watts& watts) { return to_json(watts); });
}

std::map<std::string, Watts> states_from(const Node& node) {
  std::map<std::string, Watts> states;
  for (const auto& [name, value] : node.object().items())
    if (!value.is_null()) states[name] = watts_from(node.at(name.c_str()));
  return states;
}

std::optional<double> number_from(const Node& node, const char* key) {
  if (!node.has(key)) return std::nullopt;
  return node.at(key).number();
}

Json to_json(const FrequencyModel& frequency) {
  Json json = {{"hz", frequency.hz}};
  if (!frequency.states_hz.empty()) json["states_hz"] = frequency.states_hz;
  if (frequency.least_hz) json["least_hz"] = *frequency.least_hz;
  if (frequency.most_hz) json["most_hz"] = *frequency.most_hz;
  if (!frequency.scaling.empty())
    json["scaling"] = by_state(frequency.scaling, [](double share) { return Json(share); });
  if (frequency.scaling_hz) json["scaling_hz"] = *frequency.scaling_hz;
  return json;
}

FrequencyModel frequency_from(const Node& node) {
  FrequencyModel frequency;
  frequency.hz = node.at("hz").number();
  if (node.has("states_hz")) frequency.states_hz = node.at("states_hz").numbers();
  frequency.least_hz = number_from(node, "least_hz");
  frequency.most_hz = number_from(node, "most_hz");
  frequency.scaling_hz = number_from(node, "scaling_hz");
  if (node.has("scaling")) {
    const Node scaling = node.at("scaling");
    for (const auto& [name, value] : scaling.object().items())
      if (!value.is_null()) frequency.scaling[name] = scaling.at(name.c_str()).number();
  }
  return frequency;
}

Json to_json(const PowerOverride& one) {
  Json json = Json::object();
  if (one.host) json["host"] = *one.host;
  if (one.cpu) json["cpu"] = *one.cpu;
  if (one.hz) json["hz"] = *one.hz;
  if (one.idle) json["idle_w"] = to_json(*one.idle);
  if (one.awake) json["awake_w"] = to_json(*one.awake);
  if (one.off_w) json["off_w"] = *one.off_w;
  if (!one.states.empty()) json["states"] = states_json(one.states);
  return json;
}

PowerOverride override_from(const Node& node) {
  PowerOverride one;
  if (node.has("host")) one.host = node.at("host").integer<int>();
  if (node.has("cpu")) one.cpu = node.at("cpu").integer<int>();
  one.hz = number_from(node, "hz");
  if (node.has("idle_w")) one.idle = watts_from(node.at("idle_w"));
  if (node.has("awake_w")) one.awake = watts_from(node.at("awake_w"));
  one.off_w = number_from(node, "off_w");
  if (node.has("states")) one.states = states_from(node.at("states"));
  return one;
}

PowerModel from_four_numbers(const Node& node, std::optional<int> cores) {
  if (!cores) {
    node.fail("found the form with one_core_w and all_cores_w; expected idle_w, awake_w, states ...",
              "that form needs the number of cores: it is for cluster.json only");
  }
  return node.made([&] {
    return power_from_loads({{std::nullopt, node.at("idle_w").number(), node.at("one_core_w").number(),
                              node.at("all_cores_w").number(), node.number_or("off_w", 0)}},
                            *cores);
  });
}

}  // namespace

Json detail::to_json(const PowerModel& model) {
  const PowerModel::Values& values = model.values();
  Json json = {{"idle_w", core::to_json(values.idle)},
               {"awake_w", core::to_json(values.awake)},
               {"off_w", values.off_w},
               {"states", states_json(values.states)}};
  if (values.frequency) json["frequency"] = core::to_json(*values.frequency);
  if (values.caps.cpu_w) json["caps"]["cpu_w"] = *values.caps.cpu_w;
  if (values.caps.host_w) json["caps"]["host_w"] = *values.caps.host_w;
  if (values.supply_efficiency != 1) json["supply_efficiency"] = values.supply_efficiency;
  if (values.network_w != 0) json["network_w"] = values.network_w;
  for (const PowerOverride& one : values.overrides) json["overrides"].push_back(core::to_json(one));
  return json;
}

PowerModel detail::power_from(const Node& node, std::optional<int> cores) {
  if (node.has("one_core_w") || node.has("all_cores_w")) return from_four_numbers(node, cores);
  PowerModel::Values values;
  values.idle = watts_from(node.at("idle_w"));
  if (node.has("awake_w")) values.awake = watts_from(node.at("awake_w"));
  values.off_w = node.number_or("off_w", 0);
  values.states = states_from(node.at("states"));
  if (node.has("frequency")) values.frequency = frequency_from(node.at("frequency"));
  if (node.has("caps")) {
    values.caps.cpu_w = number_from(node.at("caps"), "cpu_w");
    values.caps.host_w = number_from(node.at("caps"), "host_w");
  }
  values.supply_efficiency = node.number_or("supply_efficiency", 1);
  values.network_w = node.number_or("network_w", 0);
  if (node.has("overrides")) {
    const Node list = node.at("overrides");
    for (std::size_t i = 0; i < list.size_of_array(); ++i) values.overrides.push_back(override_from(list.at(i)));
  }
  return node.made([&] { return PowerModel::make(std::move(values)); });
}

std::string power_json(const PowerModel& model) {
  return Json({{"power", detail::to_json(model)}}).dump(2);
}

}  // namespace hplcast::core

namespace hplcast::core::detail {

namespace {

/// A number, coefficients of GHz, or a table.
void watts(Walk& walk, const Json& json) {
  if (json.is_array()) return numbers(walk, json);
  if (json.is_object()) return walk.object(json, {{"ghz", numbers}, {"w", numbers}});
  if (!json.is_number()) {
    return walk.note(std::string("found ") + json.type_name() +
                     "; expected watts: a number, a list of coefficients c0, c1, ... of the frequency in GHz, or "
                     "{\"ghz\": [...], \"w\": [...]}");
  }
  at_least_zero(walk, json);
}

/// An object of `rule` by name: `default`, kernels, and the names in `others`.
void by_state(Walk& walk, const Json& json, Rule rule, const std::vector<std::string>& others) {
  if (!walk.is_object(json)) return;
  std::vector<std::string> known(kernel_names.begin(), kernel_names.end());
  known.emplace_back(default_state);
  known.insert(known.end(), others.begin(), others.end());
  for (const auto& [name, value] : json.items()) {
    walk.below(name, [&, &name = name, &value = value] {
      if (std::find(known.begin(), known.end(), name) == known.end())
        walk.note("not a state of power", name_hint(name, known));
      if (!value.is_null()) rule(walk, value);
    });
  }
}

void states(Walk& walk, const Json& json) {
  std::vector<std::string> others;
  for (const CoreState state : {CoreState::polling, CoreState::blocked, CoreState::messages})
    others.emplace_back(to_string(state));
  by_state(walk, json, watts, others);
}

void scaling(Walk& walk, const Json& json) {
  by_state(walk, json, at_least_zero, {});
}

void frequency(Walk& walk, const Json& json) {
  walk.object(json, {{"hz", positive},
                     {"states_hz", numbers, false},
                     {"least_hz", positive, false},
                     {"most_hz", positive, false},
                     {"scaling", scaling, false},
                     {"scaling_hz", positive, false}});
}

void caps(Walk& walk, const Json& json) {
  walk.object(json, {{"cpu_w", positive, false}, {"host_w", positive, false}});
}

void power_override(Walk& walk, const Json& json) {
  walk.object(json, {{"host", count, false},
                     {"cpu", count, false},
                     {"hz", positive, false},
                     {"idle_w", watts, false},
                     {"awake_w", watts, false},
                     {"off_w", at_least_zero, false},
                     {"states", states, false}});
}

void power_overrides(Walk& walk, const Json& json) {
  walk.list(json, power_override);
}

}  // namespace

void power(Walk& walk, const Json& json) {
  if (json.is_object() && (json.contains("one_core_w") || json.contains("all_cores_w"))) {
    return walk.object(json, {{"idle_w", at_least_zero},
                              {"one_core_w", at_least_zero},
                              {"all_cores_w", at_least_zero},
                              {"off_w", at_least_zero, false}});
  }
  walk.object(json, {{"idle_w", watts},
                     {"awake_w", watts, false},
                     {"off_w", at_least_zero, false},
                     {"states", states},
                     {"frequency", frequency, false},
                     {"caps", caps, false},
                     {"supply_efficiency", positive, false},
                     {"network_w", at_least_zero, false},
                     {"overrides", power_overrides, false}});
}

}  // namespace hplcast::core::detail
