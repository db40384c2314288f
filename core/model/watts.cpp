#include "hplcast/core/power_model.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

namespace {

constexpr std::array other_states = {"polling", "blocked", "messages"};

/// Frequencies that were given in GHz and in Hz differ by rounding only.
bool same_frequency(double a, double b) noexcept {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string in_ghz(double hz) {
  return shortest(hz / 1e9) + " GHz";
}

double at_ghz(const Watts::Coefficients& coefficients, double ghz) noexcept {
  double sum = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) sum = sum * ghz + *c;
  return sum;
}

double at_ghz(const Watts::Table& table, double ghz) {
  for (std::size_t i = 0; i < table.ghz.size(); ++i)
    if (same_frequency(table.ghz[i], ghz)) return table.w[i];
  throw DomainError("frequency", shortest(ghz) + " GHz",
                    "a state of the table of watts: " + joined(table.ghz, ", ", shortest) + " GHz",
                    "tables are not interpolated: fit a polynomial, or measure that state");
}

void require_watts(double w) {
  if (!(w >= 0) || !std::isfinite(w)) throw DomainError("power", shortest(w) + " W", "a finite number, at least 0");
}

}  // namespace

const char* to_string(CoreState state) {
  const auto index = static_cast<std::size_t>(state);
  return is_kernel(state) ? kernel_names[index] : other_states[index - kernel_names.size()];
}

std::optional<CoreState> core_state_from_name(std::string_view name) {
  if (const auto kernel = kernel_from_name(name)) return state_of(*kernel);
  for (std::size_t i = 0; i < other_states.size(); ++i)
    if (name == other_states[i]) return static_cast<CoreState>(kernel_count + static_cast<int>(i));
  return std::nullopt;
}

Watts::Watts(double constant_w) : Watts(polynomial({constant_w})) {}

Watts Watts::polynomial(Coefficients coefficients) {
  if (coefficients.empty()) throw DomainError("coefficients of watts", "[]", "one or more: c0, c1, ... of GHz");
  for (const double c : coefficients)
    if (!std::isfinite(c)) throw DomainError("a coefficient of watts", c, "a finite number");
  if (coefficients.size() == 1) require_watts(coefficients.front());
  Watts watts;
  watts.law_ = std::move(coefficients);
  return watts;
}

Watts Watts::table(Table table) {
  require(!table.ghz.empty() && table.ghz.size() == table.w.size(), "table of watts",
          std::to_string(table.ghz.size()) + " ghz and " + std::to_string(table.w.size()) + " w",
          "as many of both, at least one");
  for (const double ghz : table.ghz)
    if (!(ghz > 0) || !std::isfinite(ghz)) throw DomainError("ghz of a table of watts", ghz, "a number above 0");
  for (const double w : table.w) require_watts(w);
  const auto not_up = [](double a, double b) { return a >= b; };
  const auto not_down = [](double a, double b) { return a <= b; };
  if (std::adjacent_find(table.ghz.begin(), table.ghz.end(), not_up) != table.ghz.end() &&
      std::adjacent_find(table.ghz.begin(), table.ghz.end(), not_down) != table.ghz.end())
    throw DomainError("ghz of a table of watts", "not in order", "strictly ascending or strictly descending states");
  Watts watts;
  watts.law_ = std::move(table);
  return watts;
}

bool Watts::varies() const noexcept {
  return std::visit(Visitor{[](const Coefficients& one) { return one.size() > 1; }, [](const Table&) { return true; }},
                    law_);
}

double Watts::at(std::optional<double> hz) const {
  if (!varies()) return std::get<Coefficients>(law_).front();
  if (!hz) throw DomainError("frequency", "not given", "one, since the watts depend on it", "give power.frequency.hz");
  const double w = std::visit([&](const auto& law) { return at_ghz(law, *hz / 1e9); }, law_);
  if (!(w >= 0) || !std::isfinite(w)) throw DomainError("power", shortest(w) + " W at " + in_ghz(*hz), "at least 0 W");
  return w;
}

bool FrequencyModel::covers(double frequency_hz) const noexcept {
  if (!states_hz.empty())
    return std::any_of(states_hz.begin(), states_hz.end(),
                       [&](double state) { return same_frequency(state, frequency_hz); });
  if (least_hz && most_hz) return frequency_hz >= *least_hz && frequency_hz <= *most_hz;
  return same_frequency(frequency_hz, hz);
}

double FrequencyModel::time_factor(std::optional<KernelId> kernel, double from_hz, double to_hz) const {
  auto found = scaling.find(kernel ? to_string(*kernel) : default_state);
  if (found == scaling.end()) found = scaling.find(default_state);
  const double share = found == scaling.end() ? 1 : found->second;
  const double reference_hz = scaling_hz.value_or(hz);
  const auto time_at = [&](double f) { return share * reference_hz / f + 1 - share; };
  return time_at(to_hz) / time_at(from_hz);
}

std::vector<double> FrequencyModel::steps_below(double from_hz, std::optional<double> step_hz) const {
  std::vector<double> steps{from_hz};
  for (const double state : states_hz)
    if (state < from_hz && !same_frequency(state, from_hz)) steps.push_back(state);
  std::sort(steps.rbegin(), steps.rend());
  const double step = step_hz.value_or(PowerController::default_step_hz);
  if (!least_hz) return steps;
  for (int i = 1; from_hz - i * step > *least_hz && !same_frequency(from_hz - i * step, *least_hz); ++i)
    steps.push_back(from_hz - i * step);
  if (from_hz > *least_hz) steps.push_back(*least_hz);
  return steps;
}

HostPower::HostPower(const PowerModel& model, const Hosts& hosts, int host, std::optional<double> hz)
    : supply_efficiency_(model.values().supply_efficiency) {
  const std::optional<FrequencyModel>& frequency = model.values().frequency;
  if (hz && frequency && !frequency->covers(*hz))
    throw DomainError("frequency", in_ghz(*hz), "one that power.frequency has",
                      "its states_hz, or least_hz and most_hz, say which can be set");
  const int cpus = hosts.cpus_of(host);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const std::optional<double> own_hz = hz ? hz : model.frequency_hz(host, cpu);
    idle_w_ += model.idle(host).at(own_hz) / cpus;
    awake_w_ += model.awake(host).at(own_hz) / cpus;
    core_w_.emplace_back();
    for (int state = 0; state < core_state_count; ++state)
      core_w_.back()[static_cast<std::size_t>(state)] = model.core(host, cpu, static_cast<CoreState>(state)).at(own_hz);
  }
}

double HostPower::watts(const std::vector<CoresInState>& cores) const noexcept {
  double sum_w = 0;
  bool any_active = false;
  for (const CoresInState& some : cores) {
    if (some.cores <= 0) continue;
    sum_w += some.cores * core_w(some.cpu, some.state);
    any_active = any_active || is_active(some.cpu, some.state);
  }
  return at_wall_w(idle_w_ + (any_active ? awake_w_ : 0) + sum_w);
}

SimgridWattage simgrid_wattage(const PowerModel& model, const Hosts& hosts, int host, std::optional<double> hz) {
  const auto rounded = [](double w) { return std::round(w * 1e9) / 1e9; };
  const HostPower power(model, hosts, host, hz);
  double cores_w = 0;
  for (int core = 0; core < hosts.cores_of(host); ++core) {
    const int cpu = hosts.cpu_of(host, core);
    cores_w += model.default_core(host, cpu).at(hz ? hz : model.frequency_hz(host, cpu));
  }
  const double awake_w = power.idle_w() + power.awake_w();
  return {rounded(power.at_wall_w(power.idle_w())), rounded(power.at_wall_w(awake_w)),
          rounded(power.at_wall_w(awake_w + cores_w)), rounded(power.at_wall_w(model.off_w(host)))};
}

SimgridPstates simgrid_pstates(const PowerModel& model, const Hosts& hosts, int host) {
  SimgridPstates result;
  const auto add = [&](double speed, const SimgridWattage& watts) {
    result.speeds.push_back(speed);
    result.wattage_per_state += (result.wattage_per_state.empty() ? "" : ",") + shortest(watts.idle_w) + ":" +
                                shortest(watts.epsilon_w) + ":" + shortest(watts.all_cores_w);
    result.off_w = watts.off_w;
  };
  add(1, simgrid_wattage(model, hosts, host));
  if (!model.values().frequency) return result;
  std::vector<double> states = model.values().frequency->states_hz;
  std::sort(states.rbegin(), states.rend());
  const double own_hz = *model.frequency_hz(host, 0);
  for (const double hz : states)
    if (!same_frequency(hz, own_hz)) add(hz / own_hz, simgrid_wattage(model, hosts, host, hz));
  return result;
}

namespace {

struct AddedWatts {
  double awake_w, core_w;
};

AddedWatts added_watts(const LoadWatts& load, int cores) {
  for (const double w : {load.idle_w, load.one_core_w, load.all_cores_w, load.off_w}) require_watts(w);
  const double core_w = cores > 1 ? (load.all_cores_w - load.one_core_w) / (cores - 1) : load.all_cores_w - load.idle_w;
  require(core_w >= 0, "all_cores_w", load.all_cores_w,
          "at least " + std::string(cores > 1 ? "one_core_w" : "idle_w") + ", " +
              shortest(cores > 1 ? load.one_core_w : load.idle_w));
  const double awake_w = cores > 1 ? load.one_core_w - core_w - load.idle_w : 0;
  // Rounding of decimals must not make a host that needs nothing to be awake one that needs less than nothing.
  require(awake_w >= -1e-9 * load.all_cores_w, "one_core_w", load.one_core_w,
          "at least " + shortest(load.idle_w + core_w) +
              ": idle_w and what one of the other cores adds, (all_cores_w - one_core_w)/(cores - 1)",
          "it is the power with ONE core fully busy, not SimGrid's epsilon of today");
  return {std::max(awake_w, 0.0), core_w};
}

}  // namespace

PowerModel power_from_loads(const std::vector<LoadWatts>& states, int cores) {
  if (states.empty()) throw DomainError("measured power", "nothing", "at least one state");
  PowerModel::Values values;
  values.off_w = states.front().off_w;
  if (states.size() == 1 && !states.front().ghz) {
    const AddedWatts added = added_watts(states.front(), cores);
    values.idle = states.front().idle_w;
    values.awake = added.awake_w;
    values.states[default_state] = added.core_w;
    return PowerModel::make(std::move(values));
  }
  Watts::Table idle, awake, core;
  FrequencyModel frequency;
  for (const LoadWatts& load : states) {
    if (!load.ghz) throw DomainError("ghz of measured power", "missing", "the frequency of each state");
    const AddedWatts added = added_watts(load, cores);
    for (Watts::Table* table : {&idle, &awake, &core}) table->ghz.push_back(*load.ghz);
    idle.w.push_back(load.idle_w);
    awake.w.push_back(added.awake_w);
    core.w.push_back(added.core_w);
    frequency.states_hz.push_back(*load.ghz * 1e9);
  }
  frequency.hz = frequency.states_hz.front();
  values.idle = Watts::table(std::move(idle));
  values.awake = Watts::table(std::move(awake));
  values.states[default_state] = Watts::table(std::move(core));
  values.frequency = std::move(frequency);
  return PowerModel::make(std::move(values));
}

}  // namespace hplcast::core
