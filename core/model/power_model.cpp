#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/power_model.hpp"
#include "hplcast/core/text.hpp"

// Checks of a PowerModel, and which entry holds where.

namespace hplcast::core {

namespace {

using States = std::map<std::string, Watts>;

void require_positive(const char* name, const std::optional<double>& value, const char* unit) {
  if (value && (!(*value > 0) || !std::isfinite(*value)))
    throw DomainError(name, *value, std::string("a finite number of ") + unit + " above 0");
}

std::string state_hint(const std::string& name) {
  std::vector<std::string> known(kernel_names.begin(), kernel_names.end());
  known.insert(known.end(), {"polling", "blocked", "messages", default_state});
  return name_hint(name, known);
}

void check_names(const States& states) {
  for (const auto& [name, watts] : states)
    if (name != default_state && !core_state_from_name(name))
      throw DomainError("a state of power", name, "default, a kernel of HPL, polling, blocked or messages",
                        state_hint(name));
}

void check_frequency(const FrequencyModel& frequency) {
  require_positive("frequency.hz", frequency.hz, "Hz");
  for (const double state : frequency.states_hz) require_positive("a state of frequency.states_hz", state, "Hz");
  require_positive("frequency.least_hz", frequency.least_hz, "Hz");
  require_positive("frequency.most_hz", frequency.most_hz, "Hz");
  require_positive("frequency.scaling_hz", frequency.scaling_hz, "Hz");
  if (frequency.least_hz.has_value() != frequency.most_hz.has_value())
    throw DomainError("frequency", "one of least_hz and most_hz", "both or none");
  if (frequency.least_hz && !frequency.states_hz.empty())
    throw DomainError("frequency", "states_hz beside least_hz and most_hz", "one of both");
  if (frequency.least_hz && *frequency.least_hz > *frequency.most_hz)
    throw DomainError("frequency.least_hz", *frequency.least_hz, "at most most_hz, " + shortest(*frequency.most_hz));
  const std::vector<double>& states = frequency.states_hz;
  const auto up = [](double a, double b) { return a < b; };
  if (std::set<double>(states.begin(), states.end()).size() != states.size() ||
      !(std::is_sorted(states.begin(), states.end(), up) || std::is_sorted(states.rbegin(), states.rend(), up)))
    throw DomainError("frequency.states_hz", "not in order", "strictly ascending or strictly descending states");
  for (const auto& [name, share] : frequency.scaling) {
    if (name != default_state && !kernel_from_name(name))
      throw DomainError("a name of frequency.scaling", name, "default or a kernel of HPL", state_hint(name));
    if (!(share >= 0 && share <= 1))
      throw DomainError("frequency.scaling." + name, share, "the share of its time that goes with the clock, 0 to 1");
  }
}

/// All frequencies at which watts are looked at: the states, or the range in small steps.
std::vector<std::optional<double>> frequencies_to_check(const PowerModel::Values& values) {
  if (!values.frequency) return {std::nullopt};
  const FrequencyModel& frequency = *values.frequency;
  std::vector<std::optional<double>> all{frequency.hz};
  all.insert(all.end(), frequency.states_hz.begin(), frequency.states_hz.end());
  for (const PowerOverride& one : values.overrides)
    if (one.hz) all.push_back(one.hz);
  return all;
}

void check_watts(const std::string& name, const Watts& watts, const PowerModel::Values& values) {
  const auto at = [&](std::optional<double> hz) {
    try {
      (void)watts.at(hz);
    } catch (const DomainError& error) {
      throw DomainError("power." + name, std::string("not usable: ") + error.what(),
                        "watts of at least 0 at every frequency that can be set");
    }
  };
  for (const std::optional<double>& hz : frequencies_to_check(values)) at(hz);
  const bool in_range = values.frequency && values.frequency->least_hz;
  if (!in_range || !std::holds_alternative<Watts::Coefficients>(watts.law())) return;
  constexpr int steps = 100;  // fine enough for what a polynomial of watts does between a CPU's frequencies
  const double least = *values.frequency->least_hz, most = *values.frequency->most_hz;
  for (int i = 0; i <= steps; ++i) at(least + (most - least) * i / steps);
}

void check_override(const PowerOverride& one, const PowerModel::Values& values) {
  const std::string of = std::string(one.host ? " of host " + std::to_string(*one.host) : "") +
                         (one.cpu ? " of CPU " + std::to_string(*one.cpu) : "");
  if (!one.host && !one.cpu) throw DomainError("an override of power", "without host and cpu", "one or both of them");
  if (one.host.value_or(0) < 0 || one.cpu.value_or(0) < 0)
    throw DomainError("an override of power", of, "hosts and CPUs from 0");
  if (one.cpu && (one.idle || one.awake || one.off_w))
    throw DomainError("an override of power" + of, "idle_w, awake_w or off_w", "these only for whole hosts");
  if (one.hz && !values.frequency) throw DomainError("hz" + of, *one.hz, "power.frequency beside it");
  if (one.hz && !values.frequency->covers(*one.hz))
    throw DomainError("hz" + of, *one.hz, "a frequency that power.frequency has");
  check_names(one.states);
  if (one.idle) check_watts("idle_w" + of, *one.idle, values);
  if (one.awake) check_watts("awake_w" + of, *one.awake, values);
  if (one.off_w && !(*one.off_w >= 0 && std::isfinite(*one.off_w)))
    throw DomainError("off_w" + of, *one.off_w, "at least 0");
  for (const auto& [name, watts] : one.states) check_watts("states." + name + of, watts, values);
}

using Place = std::pair<std::optional<int>, std::optional<int>>;

Place place_of(const PowerOverride& one) {
  return {one.host, one.cpu};
}

/// The override of exactly that place, or null. They are sorted by it.
const PowerOverride* override_of(const PowerModel::Values& values, const Place& place) {
  const auto found =
      std::lower_bound(values.overrides.begin(), values.overrides.end(), place,
                       [](const PowerOverride& one, const Place& wanted) { return place_of(one) < wanted; });
  return found != values.overrides.end() && place_of(*found) == place ? &*found : nullptr;
}

/// The overrides that hold at a CPU, the most special one first, until `found` is true.
template <typename Found>
void visit_overrides(const PowerModel::Values& values, int host, int cpu, Found found) {
  for (const Place& place : {Place{host, cpu}, Place{host, std::nullopt}, Place{std::nullopt, cpu}}) {
    const PowerOverride* one = override_of(values, place);
    if (one != nullptr && found(*one)) return;
  }
}

const Watts* find_state(const PowerModel::Values& values, int host, int cpu, const std::string& name) {
  const Watts* result = nullptr;
  const auto look = [&](const States& states) {
    const auto entry = states.find(name);
    if (entry != states.end()) result = &entry->second;
    return result != nullptr;
  };
  visit_overrides(values, host, cpu, [&](const PowerOverride& one) { return look(one.states); });
  if (result == nullptr) look(values.states);
  return result;
}

/// A member of the override of a whole host, else `otherwise`.
template <typename T>
const T& of_host(const PowerModel::Values& values, int host, std::optional<T> PowerOverride::*member,
                 const T& otherwise) {
  const PowerOverride* one = override_of(values, {host, std::nullopt});
  return one != nullptr && one->*member ? *(one->*member) : otherwise;
}

}  // namespace

PowerModel PowerModel::make(Values values) {
  check_names(values.states);
  if (values.states.count(default_state) == 0)
    throw DomainError("power.states.default", "missing", "the watts that a core adds in any kernel");
  if (!(values.off_w >= 0) || !std::isfinite(values.off_w))
    throw DomainError("power.off_w", values.off_w, "a finite number of watts, at least 0");
  if (values.frequency) {
    check_frequency(*values.frequency);
    if (!values.frequency->covers(values.frequency->hz))
      throw DomainError("frequency.hz", values.frequency->hz, "one of states_hz, or from least_hz to most_hz");
  }
  require_positive("power.caps.cpu_w", values.caps.cpu_w, "watts");
  require_positive("power.caps.host_w", values.caps.host_w, "watts");
  if (!(values.supply_efficiency > 0 && values.supply_efficiency <= 1))
    throw DomainError("power.supply_efficiency", values.supply_efficiency, "above 0 and at most 1");
  if (!(values.network_w >= 0) || !std::isfinite(values.network_w))
    throw DomainError("power.network_w", values.network_w, "a finite number of watts, at least 0");
  check_watts("idle_w", values.idle, values);
  check_watts("awake_w", values.awake, values);
  for (const auto& [name, watts] : values.states) check_watts("states." + name, watts, values);
  for (const PowerOverride& one : values.overrides) check_override(one, values);
  std::sort(values.overrides.begin(), values.overrides.end(),
            [](const PowerOverride& a, const PowerOverride& b) { return place_of(a) < place_of(b); });
  const auto twice = [](const PowerOverride& a, const PowerOverride& b) { return place_of(a) == place_of(b); };
  if (std::adjacent_find(values.overrides.begin(), values.overrides.end(), twice) != values.overrides.end())
    throw DomainError("an override of power", "there twice for one place", "one for each host and CPU");
  PowerModel model;
  model.values_ = std::move(values);
  return model;
}

std::optional<double> PowerModel::frequency_hz(int host, int cpu) const noexcept {
  if (!values_.frequency) return std::nullopt;
  double hz = values_.frequency->hz;
  visit_overrides(values_, host, cpu, [&](const PowerOverride& one) {
    if (one.hz) hz = *one.hz;
    return one.hz.has_value();
  });
  return hz;
}

const Watts& PowerModel::default_core(int host, int cpu) const noexcept {
  return *find_state(values_, host, cpu, default_state);
}

const Watts& PowerModel::core(int host, int cpu, CoreState state) const noexcept {
  static const Watts nothing;
  if (const Watts* own = find_state(values_, host, cpu, to_string(state))) return *own;
  return is_kernel(state) ? default_core(host, cpu) : nothing;
}

const Watts& PowerModel::idle(int host) const noexcept {
  return of_host(values_, host, &PowerOverride::idle, values_.idle);
}

const Watts& PowerModel::awake(int host) const noexcept {
  return of_host(values_, host, &PowerOverride::awake, values_.awake);
}

double PowerModel::off_w(int host) const noexcept {
  return of_host(values_, host, &PowerOverride::off_w, values_.off_w);
}

std::vector<CoreState> unstated(const PowerModel& model) {
  std::vector<CoreState> result;
  for (const CoreState state : {CoreState::polling, CoreState::blocked, CoreState::messages})
    if (model.values().states.count(to_string(state)) == 0) result.push_back(state);
  return result;
}

void check_power(const PowerModel& model, const Hosts& hosts) {
  for (const PowerOverride& one : model.values().overrides) {
    const bool is_host = one.host.value_or(0) < hosts.count();
    const int cpus = one.host && is_host ? hosts.cpus_of(*one.host) : hosts.most_cpus();
    if (is_host && one.cpu.value_or(0) < cpus) continue;
    throw DomainError("an override of power",
                      "host " + (one.host ? std::to_string(*one.host) : "any") + " cpu " +
                          (one.cpu ? std::to_string(*one.cpu) : "any"),
                      "hosts below " + std::to_string(hosts.count()) + " and CPUs below " + std::to_string(cpus));
  }
}

}  // namespace hplcast::core
