#include <algorithm>

#include "core/cluster_json/cluster_pieces.hpp"
#include "core/cluster_json/schema_walk.hpp"
#include "hplcast/core/power_model.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

using namespace detail;

static Json own_json(const Watts& watts) {
  return std::visit(Visitor{[](const Watts::Coefficients& one) { return one.size() == 1 ? Json(one[0]) : Json(one); },
                            [](const Watts::Table& table) {
                              return Json({{"ghz", table.ghz}, {"w", table.w}});
                            }},
                    watts.law());
}

static void take_own(const Node& node, Watts& watts) {
  watts = node.made([&] {
    if (node.raw().is_array()) return Watts::polynomial(node.numbers());
    if (node.raw().is_object()) return Watts::table({node.at("ghz").numbers(), node.at("w").numbers()});
    return Watts(node.number());
  });
}

namespace {

template <typename Value>
struct ByState {
  std::map<std::string, Value>& values;
  bool empty() const { return values.empty(); }
};

/// In the order of the states, `default` first: a text that does not depend on how a model was made.
template <typename Value>
Json own_json(const ByState<Value>& states) {
  Json json = Json::object();
  const auto add = [&](const std::string& name) {
    const auto found = states.values.find(name);
    if (found != states.values.end()) json[name] = FieldWriter::json_of(found->second);
  };
  add(default_state);
  for (int state = 0; state < core_state_count; ++state) add(to_string(static_cast<CoreState>(state)));
  return json;
}

template <typename Value>
void take_own(const Node& node, ByState<Value>& states) {
  states.values.clear();
  for (const auto& [name, value] : node.object().items())
    if (!value.is_null()) states.values[name] = FieldReader::read<Value>(node.at(name.c_str()));
}

/// A number, coefficients of GHz, or a table.
void watts(Walk& walk, const Json& json) {
  if (json.is_array()) return numbers(walk, json);
  if (json.is_object()) return walk.object(json, {{"ghz", numbers}, {"w", numbers}});
  if (walk.expect(json.is_number(), json,
                  "watts: a number, a list of coefficients c0, c1, ... of the frequency in GHz, or {\"ghz\": [...], "
                  "\"w\": [...]}"))
    at_least_zero(walk, json);
}

/// An object of `rule` by name: `default`, kernels, and the names in `others`.
void check_states(Walk& walk, const Json& json, Rule rule, const std::vector<std::string>& others) {
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
  check_states(walk, json, watts, {"polling", "blocked", "messages"});
}

void scaling(Walk& walk, const Json& json) {
  check_states(walk, json, at_least_zero, {});
}

}  // namespace

HPLCAST_DESCRIPTION(FrequencySchedule, schedule) {
  HPLCAST_FIELDS_IF_ANY(schedule, hosts, cpu);
  fields.if_any("period_s", schedule.period_s, positive);
  fields("at_s", schedule.at_s);
  fields("hz", schedule.hz);
}

HPLCAST_DESCRIPTION(PowerController, controller) {
  HPLCAST_FIELDS_IF_ANY(controller, hosts, hosts_per_group);
  fields("cap_w", controller.cap_w, positive);
  fields("period_s", controller.period_s, positive);
  fields.if_any("step_hz", controller.step_hz, positive);
}

HPLCAST_DESCRIPTION(FrequencyModel, frequency) {
  fields("hz", frequency.hz, positive);
  fields.if_any("states_hz", frequency.states_hz);
  fields.if_any("least_hz", frequency.least_hz, positive);
  fields.if_any("most_hz", frequency.most_hz, positive);
  ByState<double> shares{frequency.scaling};
  fields.if_any("scaling", shares, scaling);
  fields.if_any("scaling_hz", frequency.scaling_hz, positive);
  HPLCAST_FIELDS_IF_ANY(frequency, schedules, controllers);
}

HPLCAST_DESCRIPTION(PowerCaps, caps) {
  fields.if_any("cpu_w", caps.cpu_w, positive);
  fields.if_any("host_w", caps.host_w, positive);
}

HPLCAST_DESCRIPTION(PowerOverride, one) {
  HPLCAST_FIELDS_IF_ANY(one, host, cpu);
  fields.if_any("hz", one.hz, positive);
  fields.if_any("idle_w", one.idle, watts);
  fields.if_any("awake_w", one.awake, watts);
  fields.if_any("off_w", one.off_w, at_least_zero);
  ByState<Watts> by_state{one.states};
  fields.if_any("states", by_state, states);
}

static void power_override(Walk& walk, const Json& json) {
  std::vector<Key> keys = keys_of<PowerOverride>();
  keys.push_back({"kind", text, false});
  walk.object(json, keys);
}

HPLCAST_DESCRIPTION(PowerModel::Values, values) {
  fields("idle_w", values.idle, watts);
  fields.if_given("awake_w", values.awake, watts);
  fields.if_given("off_w", values.off_w, at_least_zero);
  ByState<Watts> by_state{values.states};
  fields("states", by_state, states);
  HPLCAST_FIELDS_IF_ANY(values, frequency, caps);
  fields.if_any("supply_efficiency", values.supply_efficiency, positive, 1);
  fields.if_any("network_w", values.network_w, at_least_zero);
  fields.if_any("overrides", values.overrides, listed<power_override>);
}

void detail::power(Walk& walk, const Json& json) {
  if (json.is_object() && (json.contains("one_core_w") || json.contains("all_cores_w")))
    return walk.object(json, {{"idle_w", at_least_zero},
                              {"one_core_w", at_least_zero},
                              {"all_cores_w", at_least_zero},
                              {"off_w", at_least_zero, false}});
  walk.object(json, keys_of<PowerModel::Values>());
}

Json own_json(const PowerModel& model) {
  return FieldWriter::json_of(model.values());
}

void take_own(const Node& node, PowerModel& model) {
  model = node.made([&] { return PowerModel::make(FieldReader::read<PowerModel::Values>(node)); });
}

PowerModel detail::power_from_four_numbers(const Node& node, int cores) {
  return node.made([&] {
    return power_from_loads({{std::nullopt, node.at("idle_w").number(), node.at("one_core_w").number(),
                              node.at("all_cores_w").number(), node.number_or("off_w", 0)}},
                            cores);
  });
}

std::string power_json(const PowerModel& model) {
  return Json({{"power", own_json(model)}}).dump(2);
}

}  // namespace hplcast::core
