#include <algorithm>

#include "core/base/described_json.hpp"
#include "core/cluster_json/cluster_pieces.hpp"
#include "hplcast/core/power_model.hpp"
#include "hplcast/core/text.hpp"
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
    if (node.raw().is_object()) {
      refuse_others(node, {"ghz", "w"});
      using Numbers = std::vector<double>;
      return Watts::table({FieldReader::read<Numbers>(node, "ghz"), FieldReader::read<Numbers>(node, "w")});
    }
    node.typed(node.raw().is_number(),
               "watts: a number, a list of coefficients c0, c1, ... of the frequency in GHz, or {\"ghz\": [...], "
               "\"w\": [...]}");
    at_least_zero(node);
    return Watts(node.number());
  });
}

namespace {

template <typename Value>
struct ByState {
  std::map<std::string, Value>& values;
  std::vector<std::string> others;  ///< names of states beside `default` and the kernels
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
  std::vector<std::string> known(kernel_names.begin(), kernel_names.end());
  known.emplace_back(default_state);
  known.insert(known.end(), states.others.begin(), states.others.end());
  states.values.clear();
  for (const auto& [name, value] : node.object().items()) {
    const Node one = node.below(value, name);
    if (std::find(known.begin(), known.end(), name) == known.end())
      one.note("not a state of power", name_hint(name, known));
    if (value.is_null()) continue;
    one.attempt([&, &name = name] {
      if constexpr (std::is_arithmetic_v<Value>) at_least_zero(one);
      states.values[name] = FieldReader::read<Value>(one);
    });
  }
}

/// Other times of calls than those of kernels.
const std::vector<std::string> other_states = {"polling", "blocked", "messages"};

}  // namespace

HPLCAST_DESCRIPTION(FrequencySchedule, schedule) {
  HPLCAST_FIELDS_IF_ANY(schedule, hosts, cpu);
  fields.if_any("period_s", schedule.period_s, positive);
  HPLCAST_FIELDS(schedule, at_s, hz);
}

HPLCAST_DESCRIPTION(PowerController, controller) {
  HPLCAST_FIELDS_IF_ANY(controller, hosts, hosts_per_group);
  HPLCAST_RULED(positive, controller, cap_w, period_s);
  fields.if_any("step_hz", controller.step_hz, positive);
}

HPLCAST_DESCRIPTION(FrequencyModel, frequency) {
  fields("hz", frequency.hz, positive);
  fields.if_any("states_hz", frequency.states_hz);
  HPLCAST_RULED_IF_ANY(positive, frequency, least_hz, most_hz);
  ByState<double> shares{frequency.scaling, {}};
  fields.if_any("scaling", shares);
  fields.if_any("scaling_hz", frequency.scaling_hz, positive);
  HPLCAST_FIELDS_IF_ANY(frequency, schedules, controllers);
}

HPLCAST_DESCRIPTION(PowerCaps, caps) {
  HPLCAST_RULED_IF_ANY(positive, caps, cpu_w, host_w);
}

HPLCAST_DESCRIPTION(PowerOverride, one) {
  HPLCAST_FIELDS_IF_ANY(one, host, cpu);
  fields.if_any("hz", one.hz, positive);
  fields.if_any("idle_w", one.idle);
  fields.if_any("awake_w", one.awake);
  fields.if_any("off_w", one.off_w, at_least_zero);
  ByState<Watts> by_state{one.states, other_states};
  std::string kind;  // expand_kinds() has replaced those
  fields.if_any("states", by_state);
  fields.if_any("kind", kind);
  fields.check("kind", kind.empty() || fields.collects(), "none: `hosts` has no `kinds`");
}

HPLCAST_DESCRIPTION(PowerModel::Values, values) {
  fields("idle_w", values.idle);
  fields.if_given("awake_w", values.awake);
  fields.if_given("off_w", values.off_w, at_least_zero);
  ByState<Watts> by_state{values.states, other_states};
  fields("states", by_state);
  HPLCAST_FIELDS_IF_ANY(values, frequency, caps);
  fields.if_any("supply_efficiency", values.supply_efficiency, positive, 1);
  fields.if_any("network_w", values.network_w, at_least_zero);
  fields.if_any("overrides", values.overrides);
}

HPLCAST_DESCRIPTION(LoadWatts, load) {
  HPLCAST_RULED(at_least_zero, load, idle_w, one_core_w, all_cores_w);
  fields.if_any("off_w", load.off_w, at_least_zero);
}

Json own_json(const PowerModel& model) {
  return FieldWriter::json_of(model.values());
}

void take_own(const Node& node, PowerModel& model) {
  if (node.has("one_core_w") || node.has("all_cores_w")) return (void)FieldReader::read<LoadWatts>(node);
  model = node.made([&] {
    auto values = FieldReader::read<PowerModel::Values>(node);
    if (node.collects()) values.overrides.clear();  // those of kinds have no hosts yet
    return PowerModel::make(std::move(values));
  });
}

PowerModel detail::power_from_four_numbers(const Node& node, int cores) {
  return node.made([&] { return power_from_loads({FieldReader::read<LoadWatts>(node)}, cores); });
}

std::string power_json(const PowerModel& model) {
  return Json({{"power", own_json(model)}}).dump(2);
}

}  // namespace hplcast::core
