#include "hplcast/core/power.hpp"
#include "schema_walk.hpp"

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
                     {"scaling", scaling, false}});
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
