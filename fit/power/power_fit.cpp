#include "hplcast/fit/power_fit.hpp"

#include <algorithm>
#include <cmath>

#include "fit/power/power_regression.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

/// Names of states in files: those of core, and `default` for any kernel.
void require_known_states(const std::vector<PowerRow>& rows) {
  for (const PowerRow& row : rows)
    if (row.state != "idle" && row.state != core::default_state && !core::core_state_from_name(row.state))
      throw core::DomainError("state", row.state, "idle, default, polling, blocked, messages or a kernel");
}

core::Watts watts_of(const FittedWatts& fitted) {
  if (fitted.coefficients.empty()) return core::Watts(0);
  return core::Watts::polynomial(fitted.coefficients);
}

/// Where numbers of one frequency are all there is, watts are constants.
bool any_varies(const HostPowerFit& fit) {
  const auto varies = [](const FittedWatts& fitted) { return fitted.coefficients.size() > 1; };
  return varies(fit.awake) ||
         std::any_of(fit.states.begin(), fit.states.end(), [&](const auto& one) { return varies(one.second); });
}

/// States by name; those in which a core sleeps add 0 W.
std::map<std::string, core::Watts> states_of(const HostPowerFit& fit) {
  std::map<std::string, core::Watts> states;
  for (const auto& [name, watts] : fit.states) states[name] = watts_of(watts);
  for (const std::string& name : fit.notes.sleeping) states[name] = core::Watts(0);
  if (states.count(core::default_state) != 0) return states;
  // HPL computes dgemm nearly all the time; else whatever kernel takes the most.
  const FittedWatts* largest = nullptr;
  for (const auto& [name, watts] : fit.states) {
    const auto state = core::core_state_from_name(name);
    if (!state || !core::is_kernel(*state)) continue;
    if (name == "dgemm") {
      largest = &watts;
      break;
    }
    if (largest == nullptr || watts.at(1) > largest->at(1)) largest = &watts;
  }
  states[core::default_state] = largest == nullptr ? core::Watts(0) : watts_of(*largest);
  return states;
}

core::FrequencyModel frequency_of(const std::vector<PowerRow>& rows, const PowerFitOptions& options) {
  core::FrequencyModel frequency;
  double least_hz = 0, most_hz = 0;
  for (const PowerRow& row : rows) {
    if (row.active_cores == 0) continue;
    least_hz = least_hz > 0 ? std::min(least_hz, row.frequency_hz) : row.frequency_hz;
    most_hz = std::max(most_hz, row.frequency_hz);
  }
  frequency.hz = options.frequency_hz.value_or(most_hz);
  frequency.least_hz = std::min(least_hz, frequency.hz);
  frequency.most_hz = std::max(most_hz, frequency.hz);
  return frequency;
}

/// `Values`: of a model, or of a part of it.
template <typename Values>
void set_watts(const HostPowerFit& fit, Values& values) {
  values.idle = core::Watts(fit.idle_w);
  values.awake = watts_of(fit.awake);
  values.states = states_of(fit);
}

/// A curve for each state with all cores busy at four frequencies and more.
std::vector<AllCoresCurve> all_cores_curves(const std::vector<PowerRow>& rows) {
  std::map<std::string, std::vector<PowerRow>> by_state;
  for (const PowerRow& row : rows)
    if (row.active_cores == row.cores && row.frequency_hz > 0) by_state[row.state].push_back(row);
  std::vector<AllCoresCurve> curves;
  for (const auto& [state, of_state] : by_state) {
    if (distinct_ghz(of_state).size() < 4) continue;
    std::vector<double> ghz, watts;
    for (const PowerRow& row : of_state) {
      ghz.push_back(row.frequency_hz / 1e9);
      watts.push_back(row.power_w);
    }
    const LeastSquares solution = fit_quadratic(ghz, watts);
    if (solution.rank < 3) continue;
    AllCoresCurve curve{state, {solution.coefficients, solution.standard_errors}, solution.r2, 0, 0};
    curve.rms_w = std::sqrt(solution.rss / static_cast<double>(of_state.size()));
    for (const PowerRow& row : of_state)
      curve.max_residual_w =
          std::max(curve.max_residual_w, std::abs(row.power_w - curve.watts.at(row.frequency_hz / 1e9)));
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// Index of a host in a cluster, by its name, or by the number that ends the cluster's name of it before its first dot
/// (published tables have numbers of nodes); negative: the cluster has no such host.
int index_of(const std::string& host, const core::Hosts& hosts) {
  const auto is_it = [&](const std::string& name) {
    if (name == host) return true;
    const std::string first = name.substr(0, name.find('.'));
    const std::size_t number_at = first.find_last_not_of("0123456789") + 1;
    return !host.empty() && first.substr(number_at) == host;
  };
  const auto found = std::find_if(hosts.names().begin(), hosts.names().end(), is_it);
  return found == hosts.names().end() ? -1 : static_cast<int>(found - hosts.names().begin());
}

/// Fits of single hosts, as overrides of the hosts of a cluster.
std::vector<core::PowerOverride> overrides_of(const PowerFit& fit, const core::Hosts& hosts,
                                              std::vector<core::QualityFlag>& flags) {
  std::vector<core::PowerOverride> overrides;
  for (const HostPowerFit& one : fit.hosts) {
    const int index = index_of(one.host, hosts);
    if (index < 0) {
      flags.push_back({one.host, "unknown_host", "the cluster has no such host: its own power is not in it"});
      continue;
    }
    overrides.emplace_back().host = index;
    set_watts(one, overrides.back());
  }
  return overrides;
}

/// Each host on its own, if there are several; those that cannot be fitted are flagged.
void fit_hosts(const std::vector<PowerRow>& rows, int degree, PowerFit& fit) {
  std::map<std::string, std::vector<PowerRow>> hosts;
  for (const PowerRow& row : rows) hosts[row.host].push_back(row);
  if (hosts.size() < 2) return;
  for (const auto& [host, mine] : hosts) {
    HostPowerFit one = regress_power(mine, degree);
    if (!one.notes.failure.empty()) {
      fit.flags.push_back({host, "too_few_samples", one.notes.failure});
      continue;
    }
    one.host = host;
    one.all_cores = all_cores_curves(mine);
    fit.hosts.push_back(std::move(one));
  }
}

}  // namespace

PowerFit fit_power(const PowerRows& rows, const PowerFitOptions& options) {
  if (options.degree < 0 || options.degree > 2) throw core::DomainError("degree", options.degree, "0, 1 or 2");
  require_known_states(rows.rows);
  PowerFit fit;
  if (rows.rows.empty()) {
    fit.reason = "no piece has used samples of all sensors";
    return fit;
  }
  const std::vector<double> ghz = distinct_ghz(rows.rows);
  const int degree = std::min(options.degree, std::max(0, static_cast<int>(ghz.size()) - 1));
  fit.all = regress_power(rows.rows, degree);
  if (!fit.all.notes.failure.empty()) {
    fit.reason = fit.all.notes.failure;
    if (rows.incomplete > 0)
      fit.reason += "; " + std::to_string(rows.incomplete) + " pieces have no used sample of some sensor";
    return fit;
  }
  fit.all.all_cores = all_cores_curves(rows.rows);
  fit_hosts(rows.rows, degree, fit);
  add_power_flags(rows, fit);
  core::PowerModel::Values values;
  set_watts(fit.all, values);
  if (!ghz.empty() && (any_varies(fit.all) || options.frequency_hz))
    values.frequency = frequency_of(rows.rows, options);
  if (rows.limit_w > 0) values.caps.cpu_w = rows.limit_w;
  if (options.hosts != nullptr) values.overrides = overrides_of(fit, *options.hosts, fit.flags);
  try {
    fit.model = core::PowerModel::make(values);
    fit.ok = true;
  } catch (const core::DomainError& error) {
    fit.reason = error.what();
  }
  return fit;
}

}  // namespace hplcast::fit
