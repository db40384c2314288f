#include "hplcast/study/interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/study/quick.hpp"
#include "study/sampling/sampled_prediction.hpp"

namespace hplcast::study {

namespace {

using core::ErrorGroup;
using core::ErrorTerm;
using core::EstimatedSd;

/// A standard deviation of ln(time or durations) where nothing was measured.
struct Default {
  double sd;
  const char* source;
};
/// Groups, in the order of core::ErrorGroup, of clusters without `uncertainty`.
constexpr std::array<Default, core::error_groups.size()> default_groups = {
    {{0.008, "default: days of dahu differ by 0.6 to 0.8 %"},
     {0.17, "default: days of dahu differ by 14 to 20 %"},
     {0.2, "default: assumed"},
     {0.2, "default: assumed"}}};
constexpr Default default_days = {0.008, "default: measured on one day; days of dahu differ by 0.6 to 0.8 %"};
constexpr Default default_simulation = {0.005, "default: seeds differ by 0.1 to 0.7 %"};
constexpr Default default_machine = {0.02, "default: drift of a virtual machine within an hour 1.8 %"};
constexpr Default default_model = {0.02, "default: bias of four published campaigns -1.3 to +2.3 %"};
constexpr Default default_run = {0.01, "default: an idle machine"};
/// The same of a virtual machine, whose neighbours come and go: between 14 quickstarts, and within them
/// (docs/models/interval.md#an-ordinary-day).
constexpr EstimatedSd machine_of_virtual = {0.046, 9.4}, run_of_virtual = {0.070, 150};
constexpr const char* virtual_source = "default: 14 quickstarts of virtual machines";
/// How well quickstarts tell the next one: ln(sd) of runs differs by 0.41 between 23 of them, as those of samples of so
/// many degrees of freedom do (docs/models/interval.md#a-quiet-machine).
constexpr double nu_of_virtual = 3.8;

constexpr double sds_in_fast_error = 2;  // Prediction::fast_error_95_s

double squared(double x) {
  return x * x;
}

ErrorTerm term(const char* name, const Default& value) {
  return {name, value.sd, 0, std::nullopt, value.source};
}

ErrorTerm term(const char* name, const EstimatedSd& value, std::string source) {
  return {name, value.sd, value.nu, std::nullopt, std::move(source)};
}

ErrorTerm group_term(ErrorGroup group, const core::ClusterModel& cluster, const IntervalBasis& basis) {
  const auto index = static_cast<std::size_t>(group);
  ErrorTerm result = term(to_string(group), default_groups[index]);
  if (cluster.uncertainty && cluster.uncertainty->groups[index])
    result = term(to_string(group), *cluster.uncertainty->groups[index],
                  cluster.uncertainty->groups[index]->nu > 0 ? "campaign, resampled" : "as the model says");
  result.elasticity = basis.elasticities[index];
  result.sd *= *result.elasticity * std::hypot(1, basis.elasticity_error);
  return result;
}

/// Ratios of kernels on aliased columns, each by its kernel's share of the time of the ranks. Of ln(ratio) the part
/// `certainty` counts, and that part of its variance is left.
double aliased_sd(const core::ClusterModel& cluster, const core::Prediction& prediction) {
  const long dimension = core::most_aliased_dimension(prediction.parameters);
  const double all_s = prediction.time_s * prediction.parameters.P * prediction.parameters.Q;
  double variance = 0;
  for (const auto& [kernel, count] : prediction.kernels) {
    const core::EstimatedRatio ratio = core::aliased_entry(cluster, kernel, dimension);
    variance += ratio.certainty() * squared(count.time_s / all_s * ratio.standard_error / ratio.ratio);
  }
  return std::sqrt(variance);
}

constexpr std::size_t enough_seeds = 3;  // to tell how they differ

/// Seeds, panels that were left out, exchanges that were computed.
ErrorTerm simulation_term(const core::Prediction& prediction, const std::vector<double>& seeds_time_s) {
  ErrorTerm result = term("simulation", default_simulation);
  if (seeds_time_s.size() >= enough_seeds) {
    const auto logs = core::mapped(seeds_time_s, [](double time_s) { return std::log(time_s); });
    result = term("simulation", {fit::summarize(logs).sd, static_cast<double>(logs.size() - 1)},
                  std::to_string(logs.size()) + " seeds");
  }
  const double sampling = prediction.sampling ? prediction.error_95_s / sds_in_sampling_error
                                              : prediction.fast_error_95_s / sds_in_fast_error;
  result.sd = std::hypot(result.sd, sampling / prediction.time_s);
  if (prediction.sampling) result.source += "; sampled panels";
  return result;
}

/// Whether it was measured on a virtual machine, as far as the campaign says.
bool is_virtual(const core::ClusterModel& cluster) {
  const auto provenance = core::parse_json<nlohmann::json>(cluster.provenance);
  const nlohmann::json::json_pointer machines("/surroundings/machines");
  if (!provenance.is_object() || !provenance.contains(machines) || !provenance[machines].is_array()) return false;
  const auto& list = provenance[machines];
  return std::any_of(list.begin(), list.end(), [](const nlohmann::json& one) {
    return one.is_object() && one.contains("virtual_machine") && one["virtual_machine"] == true;
  });
}

/// The default of virtual machines and what the campaign saw, each by its degrees of freedom.
EstimatedSd updated(const EstimatedSd& of_virtual, const EstimatedSd& seen) {
  const double nu = nu_of_virtual + seen.nu;
  return {std::sqrt((nu_of_virtual * squared(of_virtual.sd) + seen.nu * squared(seen.sd)) / nu), nu};
}

/// The machine between calibration and run: with the default, days are in it unless the model knows how they differ. A
/// drift of the campaign goes on. Changes from one control to the next are in the term of the run.
void add_machine(const core::ClusterModel& cluster, double dgemm, std::vector<ErrorTerm>& terms) {
  const double drift = cluster.uncertainty && cluster.uncertainty->drift ? cluster.uncertainty->drift->sd : 0;
  const std::optional<core::Control> control = core::control_of(cluster);
  ErrorTerm machine = term("machine", default_machine);
  if (control) {  // of older models the extremes are known only
    const double lasts = control->controls > 0 ? control->lasting : std::log(control->high_s / control->low_s) / 2;
    machine = term("machine", EstimatedSd{dgemm * lasts, 0}, "control measurements of the campaign");
  }
  machine.sd = std::hypot(machine.sd, dgemm * drift);
  if (drift > 0) machine.source += "; dgemm drifted in the campaign";
  const bool known = cluster.uncertainty && cluster.uncertainty->between_days;
  if (control || known) {
    ErrorTerm days = term("days", default_days);
    if (known)
      days = term("days", *cluster.uncertainty->between_days, std::to_string(cluster.uncertainty->days) + " days");
    days.elasticity = dgemm;
    days.sd *= dgemm;
    terms.push_back(days);
  }
  if (is_virtual(cluster)) {
    // A quiet campaign tells little of what the next minutes bring. In the errors of the quickstarts are all terms so
    // far.
    double others = 0;
    for (const ErrorTerm& one : terms) others += squared(one.sd);
    EstimatedSd all = machine_of_virtual;
    std::string source = virtual_source;
    if (control && control->controls > 0) {
      constexpr double nu_of_lasting = 2;  // its square is known as well as its size where nothing lasts
      all = updated(machine_of_virtual, {std::sqrt(others + squared(machine.sd)), nu_of_lasting});
      source += "; " + machine.source;
    }
    if (const double rest = squared(all.sd) - others; squared(machine.sd) < rest)
      machine = term("machine", EstimatedSd{std::sqrt(rest), all.nu}, source);
  }
  terms.push_back(machine);
}

/// How one run differs from the next: it meets the machine for as long as it takes. What the campaign saw to differ
/// from one piece of time to the next evens out over the pieces of a longer run: of controls, and of dgemm beside them.
ErrorTerm run_term(const core::ClusterModel& cluster, double dgemm, double time_s) {
  ErrorTerm run = term("run", default_run);
  double of_controls = 0;
  if (cluster.uncertainty && cluster.uncertainty->pieces) {
    const EstimatedSd& pieces = *cluster.uncertainty->pieces;
    const double piece_s = cluster.uncertainty->piece_s, part = dgemm * std::sqrt(std::min(1.0, piece_s / time_s));
    const core::Control control = core::control_of(cluster).value_or(core::Control());
    const double of_pieces = part * pieces.sd;
    of_controls = part * control.scatter;
    run.sd = std::hypot(run.sd, of_controls, of_pieces);
    // Satterthwaite: the default counts as known, successive differences as two thirds as many.
    double uncertain = pieces.nu > 0 ? squared(squared(of_pieces)) / pieces.nu : 0;
    if (of_controls > 0) uncertain += squared(squared(of_controls)) / (2.0 / 3 * static_cast<double>(control.controls));
    run.nu = uncertain > 0 ? squared(squared(run.sd)) / uncertain : 0;
    run.source += core::printed("; dgemm in pieces of %.3g s of the campaign", piece_s);
    if (of_controls > 0) run.source += ", and its controls";
  }
  if (!is_virtual(cluster)) return run;
  if (of_controls > 0)
    return term("run", updated(run_of_virtual, {run.sd, run.nu}), virtual_source + ("; " + run.source));
  return run.sd < run_of_virtual.sd ? term("run", run_of_virtual, virtual_source) : run;
}

}  // namespace

core::PredictiveInterval interval_of_terms(const core::Prediction& prediction, std::vector<ErrorTerm> terms,
                                           double bias, double level_percent) {
  const double below = 0.5 + level_percent / 200;
  if (!(below > 0.5 && below < 1))
    throw core::DomainError("level of the interval", level_percent, "a number of percent above 0 and below 100");
  double variance = 0, uncertain = 0;
  for (const ErrorTerm& one : terms) {
    variance += squared(one.sd);
    if (one.nu > 0) uncertain += squared(squared(one.sd)) / one.nu;
  }
  core::PredictiveInterval interval;
  interval.level_percent = level_percent;
  interval.bias = bias;
  interval.sd = std::sqrt(variance);
  interval.nu = uncertain > 0 ? squared(variance) / uncertain : 0;
  const double quantile = interval.nu > 0 ? fit::students_t_quantile(interval.nu, below) : fit::normal_quantile(below);
  const auto at = [&](double sds) { return std::exp(bias + sds * interval.sd); };
  interval.low_time_s = prediction.time_s * at(-quantile);
  interval.high_time_s = prediction.time_s * at(quantile);
  interval.low_gflops = prediction.gflops / at(quantile);
  interval.high_gflops = prediction.gflops / at(-quantile);
  interval.terms = std::move(terms);
  return interval;
}

core::PredictiveInterval predictive_interval(const core::Prediction& prediction, const core::ClusterModel& cluster,
                                             const IntervalBasis& basis, double level_percent) {
  const PastErrors& past = basis.past;
  std::vector<ErrorTerm> terms;
  // The errors that one model has are in the bias that its own comparisons have shown.
  const bool learnt = past.discrepancy && past.has_model_errors;
  if (!learnt && basis.assumed) {
    // The range as the middle 90 percent, like those of quick.
    terms.push_back({"assumptions", *basis.assumed / fit::normal_quantile(0.95), 0, std::nullopt,
                     "assumed by quick: all at their worst, or at their best"});
    terms.push_back(group_term(ErrorGroup::dgemm_scatter, cluster, basis));
  } else if (!learnt) {
    for (const ErrorGroup group : core::error_groups) terms.push_back(group_term(group, cluster, basis));
    if (const double sd = aliased_sd(cluster, prediction); sd > 0)
      terms.push_back(term("aliased", EstimatedSd{sd, 0}, "campaign: pairs of calls and runs on aliased columns"));
  }
  terms.push_back(simulation_term(prediction, basis.seeds_time_s));
  constexpr std::size_t several_occasions = 3;  // of one configuration each: in the errors of the model
  if (past.machine)
    terms.push_back(term("machine", *past.machine,
                         "ledger: " + std::to_string(past.occasions) + " occasions, calibration and run"));
  else if (!learnt || past.occasions < several_occasions)
    add_machine(cluster, basis.elasticities[static_cast<std::size_t>(ErrorGroup::dgemm)], terms);
  terms.push_back(past.discrepancy ? term("model", *past.discrepancy,
                                          "ledger: " + std::to_string(past.configurations) + " configurations")
                                   : term("model", default_model));
  terms.push_back(
      past.run ? term("run", *past.run, "ledger: " + std::to_string(past.repeated_runs) + " repeated runs")
               : run_term(cluster, basis.elasticities[static_cast<std::size_t>(ErrorGroup::dgemm)], prediction.time_s));
  core::PredictiveInterval interval =
      interval_of_terms(prediction, std::move(terms), past.discrepancy ? past.bias : 0, level_percent);
  interval.elasticities = basis.method;
  return interval;
}

IntervalBasis closed_form_basis(const core::ClusterModel& cluster, const core::Prediction& prediction) {
  return {
      closed_form_elasticities(cluster, prediction), "closed-form", elasticity_error_of_form, {}, {prediction.time_s},
      assumed_spread(cluster, prediction.parameters)};
}

void add_intervals(const std::vector<RunPlan>& plans, const IntervalRequest& request,
                   std::vector<core::Prediction>& predictions) {
  std::map<core::HplParameters, IntervalBasis> bases;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const core::Prediction& one = predictions[i];
    const auto [found, is_new] = bases.try_emplace(one.parameters);
    if (!is_new) {
      found->second.seeds_time_s.push_back(one.time_s);
      continue;
    }
    IntervalBasis& basis = found->second = closed_form_basis(plans.at(i).cluster(), one);
    if (request.simulated_elasticities) {
      basis.elasticities = simulated_elasticities(plans.at(i), one);
      basis.method = "simulated";
      basis.elasticity_error = 0;
    }
    basis.past = past_errors(request.ledger, one);
  }
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    core::ClusterModel cluster = plans.at(i).cluster();
    const IntervalBasis& basis = bases.at(predictions[i].parameters);
    if (request.random_days && basis.seeds_time_s.size() >= enough_seeds)
      cluster.uncertainty->between_days = EstimatedSd{0, 0};
    predictions[i].interval = predictive_interval(predictions[i], cluster, basis, request.level_percent);
  }
}

namespace {

/// How far the error of one configuration is off that of all on the same machine: the sd of 14 configurations of dahu
/// around their bias.
constexpr double default_configuration = 0.01;

core::ErrorTerm term_of(const core::Prediction& prediction, const std::string& name) {
  const auto& terms = prediction.interval->terms;
  const auto found = std::find_if(terms.begin(), terms.end(), [&](const auto& term) { return term.name == name; });
  return found == terms.end() ? core::ErrorTerm() : *found;
}

/// The mean over the seeds, and its own error.
struct Mean {
  double log_rate = 0, variance = 0, freedom = 0;
};

Mean mean_of(const std::vector<core::Prediction>& seeds) {
  const auto logs = core::mapped(seeds, [](const core::Prediction& one) { return std::log(one.gflops); });
  const auto count = static_cast<double>(seeds.size());
  const core::ErrorTerm of_one = term_of(seeds.front(), "simulation");
  EstimatedSd sd{of_one.sd, of_one.nu};
  if (logs.size() >= enough_seeds) sd = {fit::summarize(logs).sd, count - 1};
  return {core::mean(logs), squared(sd.sd) / count, sd.nu};
}

}  // namespace

double probability_faster(const std::vector<core::Prediction>& a, const std::vector<core::Prediction>& b) {
  for (const auto* seeds : {&a, &b})
    if (seeds->empty() || !seeds->front().interval)
      throw core::DomainError("interval of a prediction", "none", "one of each configuration that is compared");
  double variance = 0, uncertain = 0;
  const auto add = [&](double part, double freedom) {
    variance += part;
    if (freedom > 0) uncertain += part * part / freedom;
  };
  const Mean mean_a = mean_of(a), mean_b = mean_of(b);
  add(mean_a.variance, mean_a.freedom);
  add(mean_b.variance, mean_b.freedom);
  const bool same_machine = a.front().cluster == b.front().cluster;
  std::set<std::string> names;
  for (const auto* seeds : {&a, &b})
    for (const core::ErrorTerm& term : seeds->front().interval->terms) names.insert(term.name);
  for (const std::string& name : names) {
    if (name == "run" || name == "simulation") continue;  // many runs; and the means above
    const core::ErrorTerm one = term_of(a.front(), name), other = term_of(b.front(), name);
    if (!same_machine) {
      for (const core::ErrorTerm* own : {&one, &other}) add(squared(own->sd), own->nu);
    } else if (name == "model") {                    // a ledger has the sd of configurations around their bias
      const double nu = std::min(one.nu, other.nu);  // 0: without a ledger
      add(nu > 0 ? squared(one.sd) + squared(other.sd) : 2 * squared(default_configuration), nu);
    } else {
      add(squared(one.sd - other.sd), std::max(one.nu, other.nu));  // one estimate, of a part that one of them may lack
    }
  }
  const double by = mean_a.log_rate - mean_b.log_rate - (a.front().interval->bias - b.front().interval->bias);
  if (variance == 0) return by > 0 ? 1 : by < 0 ? 0 : 0.5;
  const double sds = by / std::sqrt(variance);
  if (uncertain == 0) return core::normal_cdf(sds);
  return fit::students_t_tail(variance * variance / uncertain, -sds);
}

}  // namespace hplcast::study
