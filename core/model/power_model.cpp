#include <algorithm>
#include <cmath>
#include <limits>
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

/// Shorter ones no hardware keeps, and a simulation would never end.
void check_period(const char* name, double period_s) {
  constexpr double least_s = 1e-6;
  if (!(period_s >= least_s) || !std::isfinite(period_s))
    throw DomainError(name, shortest(period_s) + " s", "a period of at least 1e-06 s");
}

void check_schedule(const FrequencySchedule& schedule, const FrequencyModel& frequency) {
  const std::string at = "at_s of frequency.schedules", hz = "hz of frequency.schedules";
  if (schedule.period_s) check_period("period_s of frequency.schedules", *schedule.period_s);
  require(!schedule.at_s.empty() && schedule.at_s.size() == schedule.hz.size(), at,
          std::to_string(schedule.at_s.size()) + " instants, and " + std::to_string(schedule.hz.size()) + " hz",
          "as many of both, at least one");
  double before_s = -1;
  for (const double at_s : schedule.at_s) {
    require(at_s >= 0 && std::isfinite(at_s), at, at_s, "seconds since the program began, at least 0");
    if (at_s <= before_s)
      throw DomainError(at, shortest(at_s) + " s after " + shortest(before_s) + " s", "instants that ascend");
    before_s = at_s;
  }
  if (schedule.period_s && before_s >= *schedule.period_s)
    throw DomainError(at, before_s, "below period_s, " + shortest(*schedule.period_s));
  for (const double one : schedule.hz)
    if (!frequency.covers(one)) throw DomainError(hz, one, "a frequency that power.frequency has");
  if (schedule.cpu.value_or(0) < 0) throw DomainError("cpu of frequency.schedules", *schedule.cpu, "CPUs from 0");
}

void check_controller(const PowerController& controller, const FrequencyModel& frequency) {
  require_positive("cap_w of frequency.controllers", controller.cap_w, "watts");
  check_period("period_s of frequency.controllers", controller.period_s);
  if (controller.hosts_per_group.value_or(1) < 1)
    throw DomainError("hosts_per_group of frequency.controllers", *controller.hosts_per_group, "at least 1");
  if (frequency.states_hz.empty() && !frequency.least_hz)
    throw DomainError("frequency.controllers", "no frequencies that can be set", "states_hz, or least_hz and most_hz");
  if (!controller.step_hz) return;
  if (!frequency.least_hz)
    throw DomainError("step_hz of frequency.controllers", *controller.step_hz,
                      "none beside states_hz: they are the steps");
  constexpr double most_steps = 1000;
  const double range_hz = *frequency.most_hz - *frequency.least_hz;
  if (!(*controller.step_hz > 0 && *controller.step_hz >= range_hz / most_steps) || !std::isfinite(*controller.step_hz))
    throw DomainError("step_hz of frequency.controllers", *controller.step_hz,
                      "at least 1/1000 of most_hz - least_hz, " + shortest(range_hz));
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
  for (const FrequencySchedule& one : frequency.schedules) check_schedule(one, frequency);
  for (const PowerController& one : frequency.controllers) check_controller(one, frequency);
}

/// All frequencies at which watts are looked at, beside a range in small steps: those that are set.
std::vector<std::optional<double>> frequencies_to_check(const PowerModel::Values& values) {
  if (!values.frequency) return {std::nullopt};
  const FrequencyModel& frequency = *values.frequency;
  std::vector<std::optional<double>> all{frequency.hz};
  all.insert(all.end(), frequency.states_hz.begin(), frequency.states_hz.end());
  for (const PowerOverride& one : values.overrides)
    if (one.hz) all.push_back(one.hz);
  for (const FrequencySchedule& one : frequency.schedules) all.insert(all.end(), one.hz.begin(), one.hz.end());
  for (const PowerController& one : frequency.controllers)
    for (const double hz : frequency.steps_below(frequency.hz, one.step_hz)) all.emplace_back(hz);
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
  require(one.host.value_or(0) >= 0 && one.cpu.value_or(0) >= 0, "an override of power", of, "hosts and CPUs from 0");
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

bool frequency_changes(const std::optional<PowerModel>& power) noexcept {
  return power && power->values().frequency && power->values().frequency->changes();
}

namespace {

/// When that instant of a period, from 0, comes. It is computed in no other way: equal dates have equal digits.
double date_of(const FrequencySchedule& schedule, double period, std::size_t instant) {
  return period * schedule.period_s.value_or(0) + schedule.at_s[instant];
}

/// hz 0: nothing is set yet.
FrequencyUntil setting_at(const FrequencySchedule& schedule, double time_s) {
  const std::size_t instants = schedule.at_s.size();
  double period = schedule.period_s ? std::floor(time_s / *schedule.period_s) : 0;
  if (schedule.period_s && date_of(schedule, period + 1, 0) <= time_s) ++period;  // rounding
  std::size_t next = 0;
  while (next < instants && date_of(schedule, period, next) <= time_s) ++next;
  FrequencyUntil result{0, std::numeric_limits<double>::infinity()};
  if (next > 0) result.hz = schedule.hz[next - 1];
  if (next == 0 && period > 0) result.hz = schedule.hz.back();
  if (next < instants)
    result.until_s = date_of(schedule, period, next);
  else if (schedule.period_s)
    result.until_s = date_of(schedule, period + 1, 0);
  return result;
}

/// Draw of the hosts of a group at the wall with all cores in dgemm at this frequency.
double dgemm_w(const PowerModel& model, const Hosts& hosts, const std::vector<int>& group, double hz) {
  double sum_w = 0;
  for (const int host : group) {
    sum_w += model.idle(host).at(hz) + model.awake(host).at(hz);
    for (int core = 0; core < hosts.cores_of(host); ++core)
      sum_w += model.core(host, hosts.cpu_of(host, core), state_of(KernelId::dgemm)).at(hz);
  }
  return sum_w / model.values().supply_efficiency;
}

void check_changes(const PowerModel& model, const Hosts& hosts) {
  const FrequencyModel& frequency = *model.values().frequency;
  for (const FrequencySchedule& one : frequency.schedules)
    for (const int host : hosts_named(one.hosts, hosts))
      if (one.cpu.value_or(0) >= hosts.cpus_of(host))
        throw DomainError("cpu of frequency.schedules", *one.cpu,
                          "below the " + std::to_string(hosts.cpus_of(host)) + " CPUs of " +
                              hosts.names()[static_cast<std::size_t>(host)]);
  std::set<int> controlled;
  for (const PowerController& one : frequency.controllers) {
    const double least_hz = frequency.least_hz
                                ? *frequency.least_hz
                                : *std::min_element(frequency.states_hz.begin(), frequency.states_hz.end());
    for (const std::vector<int>& group : groups_of(one, hosts)) {
      const std::string& first = hosts.names()[static_cast<std::size_t>(group.front())];
      for (const int host : group)
        if (!controlled.insert(host).second)
          throw DomainError("hosts of frequency.controllers", hosts.names()[static_cast<std::size_t>(host)] + " twice",
                            "one controller for a host");
      if (const double least_w = dgemm_w(model, hosts, group, least_hz); least_w > one.cap_w)
        throw DomainError("cap_w of frequency.controllers", shortest(one.cap_w) + " W",
                          "at least " + shortest(std::ceil(least_w * 100) / 100) + " W, what the " +
                              std::to_string(group.size()) + " hosts from " + first +
                              " on draw with all cores in dgemm at " + shortest(least_hz / 1e9) + " GHz");
    }
  }
}

}  // namespace

FrequencyUntil scheduled_frequency(const std::vector<const FrequencySchedule*>& schedules, double hz, double time_s) {
  FrequencyUntil result{0, std::numeric_limits<double>::infinity()};
  for (const FrequencySchedule* one : schedules) {
    const FrequencyUntil set = setting_at(*one, time_s);
    if (set.hz > 0 && (result.hz == 0 || set.hz < result.hz)) result.hz = set.hz;
    result.until_s = std::min(result.until_s, set.until_s);
  }
  if (result.hz == 0) result.hz = hz;
  return result;
}

std::vector<int> hosts_named(const std::string& radical, const Hosts& hosts) {
  std::vector<int> result;
  const std::vector<std::string> named = radical.empty() ? hosts.names() : expand_hosts(radical);
  const std::set<std::string> wanted(named.begin(), named.end());
  for (int host = 0; host < hosts.count(); ++host)
    if (wanted.count(hosts.names()[static_cast<std::size_t>(host)]) > 0) result.push_back(host);
  const std::set<std::string> known(hosts.names().begin(), hosts.names().end());
  for (const std::string& name : wanted)
    if (known.count(name) == 0)
      throw DomainError("a host whose frequency changes", name, "one of the cluster: " + hosts.values().names,
                        "change the hosts before their frequencies");
  return result;
}

std::vector<std::vector<int>> groups_of(const PowerController& controller, const Hosts& hosts) {
  std::vector<std::vector<int>> groups;
  const std::vector<int> all = hosts_named(controller.hosts, hosts);
  const std::size_t size =
      controller.hosts_per_group ? static_cast<std::size_t>(*controller.hosts_per_group) : all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % size == 0) groups.emplace_back();
    groups.back().push_back(all[i]);
  }
  return groups;
}

void check_power(const PowerModel& model, const Hosts& hosts) {
  if (model.values().frequency) check_changes(model, hosts);
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
