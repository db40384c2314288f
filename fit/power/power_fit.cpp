#include "hplcast/fit/power_fit.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "fit/power/power_regression.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

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

core::FrequencyModel frequency_of(const std::vector<PowerRow>& rows, const PowerFitOptions& options,
                                  std::vector<core::QualityFlag>& flags) {
  core::FrequencyModel frequency;
  double least_hz = 0, most_hz = 0;
  for (const PowerRow& row : rows) {
    if (row.active_cores == 0) continue;
    least_hz = least_hz > 0 ? std::min(least_hz, row.frequency_hz) : row.frequency_hz;
    most_hz = std::max(most_hz, row.frequency_hz);
  }
  frequency.hz = options.frequency_hz.value_or(most_hz);
  if (constexpr double apart = 1.01; frequency.hz > apart * most_hz || apart * frequency.hz < least_hz)
    flags.push_back({"frequency", "extrapolated",
                     core::printed("%.4g GHz, and the samples are of %.4g to %.4g GHz: watts beyond these are those of "
                                   "the polynomials",
                                   frequency.hz / 1e9, least_hz / 1e9, most_hz / 1e9)});
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
    const auto ghz = core::mapped(of_state, [](const PowerRow& row) { return row.frequency_hz / 1e9; });
    const LeastSquares solution = fit_quadratic(ghz, core::mapped(of_state, &PowerRow::power_w));
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
      fit.flags.push_back({host, "not_fitted", one.notes.failure});
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
    values.frequency = frequency_of(rows.rows, options, fit.flags);
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

namespace {

struct Range {
  double least = 0, most = 0;
  std::size_t n = 0;
  void add(double value) {
    least = n == 0 ? value : std::min(least, value);
    most = n == 0 ? value : std::max(most, value);
    ++n;
  }
  double spread() const { return least > 0 ? most / least - 1 : 0; }
};

/// A limit that holds: power stays while the frequency moves, or is the limit.
void flag_caps(const std::vector<PowerRow>& rows, std::vector<core::QualityFlag>& flags) {
  constexpr double same_power = 0.005, other_frequency = 0.02, at_limit = 0.001;
  constexpr std::size_t enough = 3;
  std::map<std::tuple<std::string, std::string, int>, std::pair<Range, Range>> groups;
  std::map<std::string, std::size_t> limited;
  for (const PowerRow& row : rows) {
    if (row.limit_share > 0 && std::abs(row.limit_share - 1) <= at_limit) ++limited[row.host];
    if (row.active_cores == 0 || !(row.frequency_hz > 0)) continue;
    auto& [power, frequency] = groups[{row.host, row.state, row.active_cores}];
    power.add(row.power_w);
    frequency.add(row.frequency_hz);
  }
  for (const auto& [key, ranges] : groups) {
    const auto& [power, frequency] = ranges;
    if (power.n < enough || power.spread() > same_power || frequency.spread() < other_frequency) continue;
    flags.push_back({std::get<0>(key), "cap_at_work",
                     std::get<1>(key) + " on " + std::to_string(std::get<2>(key)) + " cores: power stays within " +
                         core::printed("%.2g %% of %.4g W while the frequency moves by %.2g %%: a limit sets the power",
                                       100 * power.spread(), power.most, 100 * frequency.spread())});
  }
  for (const auto& [host, count] : limited)
    flags.push_back(
        {host, "cap_at_work",
         std::to_string(count) + " pieces are within 0.1 % of the limit of a sensor: a limit sets the power"});
}

void flag_samples(const PowerRows& rows, const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  constexpr std::size_t enough_samples = 5, spare_rows = 5;
  std::vector<double> samples;
  bool has_pieces = false;
  for (const PowerRow& row : rows.rows) {
    samples.push_back(static_cast<double>(row.samples));
    has_pieces = has_pieces || row.samples > 1;
  }
  const auto middle = static_cast<std::size_t>(core::upper_median(samples));
  if (has_pieces && middle < enough_samples)
    flags.push_back({"samples", "meter_too_slow",
                     "a piece has " + std::to_string(middle) + " used samples; expected at least " +
                         std::to_string(enough_samples) + ": longer pieces, or a faster meter"});
  if (rows.incomplete > 0)
    flags.push_back({"samples", rows.incomplete >= rows.rows.size() ? "meter_too_slow" : "incomplete",
                     std::to_string(rows.incomplete) + " pieces have no used sample of some sensor, and are left out"});
  if (rows.outliers > 0)
    flags.push_back({"samples", "outliers",
                     std::to_string(rows.outliers) + " samples are far from the others of their piece, and left out"});
  if (all.rows < all.terms + spare_rows)
    flags.push_back({"pieces", "too_few_samples",
                     std::to_string(all.rows) + " pieces for " + std::to_string(all.terms) +
                         " coefficients: their errors are hardly known"});
}

void flag_outlying_pieces(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  if (all.outliers.empty()) return;
  const PowerRow& first = all.outliers.front();
  flags.push_back({first.host, "outliers",
                   std::to_string(all.outliers.size()) +
                       " pieces do not agree with the others, and are left out; first " + first.state + " on " +
                       std::to_string(first.active_cores) + core::printed(" cores: %.4g W", first.power_w)});
}

void flag_model(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  const RegressionNotes& notes = all.notes;
  if (notes.idle_unknown)
    flags.push_back({"idle", "idle_unknown", "there is no idle piece: awake is in the idle watts"});
  if (notes.awake_unknown)
    flags.push_back({"awake", "awake_unknown",
                     "states were measured with one number of active cores: awake is in the watts of the cores"});
  for (const std::string& state : notes.sleeping)
    flags.push_back({state, "sleeps", "a core in it adds no watts: it sleeps, and its pieces count as idle"});
  for (const std::string& name : notes.degree_lowered)
    flags.push_back(
        {name, "degree_lowered", "a polynomial of the degree asked for would be negative, or has too few frequencies"});
  if (all.states.count(core::default_state) == 0 && all.states.count("dgemm") == 0)
    flags.push_back(
        {"default", "no_default", "dgemm was not measured: other kernels have the watts of the largest one"});
}

void flag_shape(const HostPowerFit& all, std::vector<core::QualityFlag>& flags) {
  constexpr double clear = 4, noticeable = 0.01, much = 0.05;
  double mean_w = 0;
  for (const PowerRow& row : all.used_rows) mean_w += row.power_w / static_cast<double>(all.rows);
  for (const auto& [state, watts] : all.states) {
    const Curvature curvature = curvature_of(all, state);
    if (std::abs(curvature.t_value) > clear && curvature.size_w > noticeable * mean_w)
      flags.push_back({state, "nonlinear",
                       core::printed("power is not linear in the active cores: it sags by %.3g W (t = %.2g)",
                                     curvature.size_w, curvature.t_value)});
  }
  if (all.rms_w > much * mean_w)
    flags.push_back(
        {"fit", "poor_fit",
         core::printed("residuals of %.3g W, %.2g %% of the mean power", all.rms_w, 100 * all.rms_w / mean_w)});
}

void flag_hosts(const PowerFit& fit, std::vector<core::QualityFlag>& flags) {
  if (fit.hosts.size() < 2) return;
  Range idle;
  for (const HostPowerFit& host : fit.hosts) idle.add(host.idle_w);
  constexpr double much = 0.02;
  if (idle.spread() > much)
    flags.push_back(
        {"hosts", "hosts_differ",
         core::printed("idle, hosts draw %.4g to %.4g W: one model for all has their scatter in its residuals",
                       idle.least, idle.most)});
}

}  // namespace

void add_power_flags(const PowerRows& rows, PowerFit& fit) {
  flag_caps(rows.rows, fit.flags);
  flag_samples(rows, fit.all, fit.flags);
  flag_outlying_pieces(fit.all, fit.flags);
  flag_model(fit.all, fit.flags);
  flag_shape(fit.all, fit.flags);
  flag_hosts(fit, fit.flags);
}

}  // namespace hplcast::fit
