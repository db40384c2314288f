#include "cli/support/prediction_results.hpp"

#include <algorithm>
#include <limits>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/interval.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/seed_means.hpp"

namespace hplcast::cli {

PredictionResults::PredictionResults(const std::vector<study::RunPlan>& plans,
                                     std::map<std::string, std::string> levels, std::string file)
    : plans_(plans),
      levels_(std::move(levels)),
      file_(is_stream(file) || core::open_descriptor(file) >= 0 ? "" : std::move(file)),
      results_(plans.size()),
      last_save_(Clock::now()) {
  for (std::size_t i = 0; i < plans.size(); ++i) missing_.insert(i);
}

bool PredictionResults::is_of(const core::Prediction& prediction, std::size_t index) const {
  const study::RunPlan& plan = plans_[index];
  const study::Observation& observation = plan.request().observation;
  return prediction.parameters == plan.parameters() && prediction.seed == plan.seed() &&
         prediction.mode == study::to_string(plan.mode()) && prediction.model_levels == levels_ &&
         (!prediction.phases.empty() || !observation.phases) && (prediction.energy || !observation.energy) &&
         study::is_sampled_as(prediction, plan) && prediction.model_sha256 == core::cluster_sha256(plan.cluster());
}

void PredictionResults::resume() {
  if (!std::filesystem::exists(file_)) return;
  const std::vector<core::Prediction> found = read_from(file_, core::read_predictions);
  std::size_t foreign = 0;
  for (const core::Prediction& prediction : found) {
    bool asked_for = false;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!is_of(prediction, i)) continue;
      results_[i] = prediction;
      asked_for = true;
      const study::PredictionRequest& request = plans_[i].request();
      const bool is_exact =
          request.target_error <= 0 || prediction.error_95_s <= request.target_error * prediction.time_s;
      if (is_exact && !study::is_observed(request.observation)) missing_.erase(i);
    }
    if (!asked_for) ++foreign;
  }
  if (foreign > 0)
    throw InputError(
        file_ + " has " + std::to_string(foreign) +
        " predictions that are not among those asked for (other parameters, seed, mode, windows or cluster); "
        "--resume would lose them\n  hint: give the options of the first time, or another -o");
  tell(count_in_file() + " already");
}

std::string PredictionResults::count_in_file() const {
  const std::size_t count = plans_.size() - missing_.size();
  return std::to_string(count) + " of " + std::to_string(plans_.size()) + " predictions are in " + file_;
}

void PredictionResults::add(std::size_t index, core::Prediction prediction) {
  prediction.model_levels = levels_;
  const bool is_cheap = prediction.wall_s < 60;
  results_[index] = std::move(prediction);
  missing_.erase(index);
  saved_ = false;
  using namespace std::chrono_literals;
  if (file_.empty() || plans_.size() == 1 || (is_cheap && Clock::now() - last_save_ < 1s && !missing_.empty())) return;
  save();
}

void PredictionResults::save() {
  core::write_file(file_, [&](std::ostream& out) { core::write_predictions(out, there()); });
  last_save_ = Clock::now();
  saved_ = true;
}

void PredictionResults::save_what_is_there(bool resumes) {
  if (file_.empty() || missing_.size() == plans_.size()) return;
  if (!saved_) save();
  tell(count_in_file() + (resumes ? "; the same command with --resume makes the others" : ""));
}

std::vector<core::Prediction> PredictionResults::there() const {
  std::vector<core::Prediction> list;
  for (const auto& result : results_)
    if (result) list.push_back(*result);
  return list;
}

ParameterColumns::ParameterColumns(const std::vector<core::HplParameters>& configurations,
                                   const std::vector<std::string>& always) {
  const std::vector<const core::HplField*> varying = core::varying_fields(configurations, {});
  const auto has = [](const auto& list, const auto& one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  const std::vector<std::string> first = {"N", "NB", "P", "Q"};
  for (const core::HplField& field : core::hpl_fields())
    if (!has(first, field.name)) (has(varying, &field) || has(always, field.name) ? fields_ : rest_).push_back(&field);
}

std::vector<std::string> ParameterColumns::with(const std::vector<std::string>& others) const {
  std::vector<std::string> names = {"N", "NB", "PxQ"};
  for (const core::HplField* field : fields_) names.emplace_back(field->name);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

std::vector<std::string> ParameterColumns::with(const core::HplParameters& p,
                                                const std::vector<std::string>& others) const {
  std::vector<std::string> cells = {std::to_string(p.N), std::to_string(p.NB),
                                    std::to_string(p.P) + "x" + std::to_string(p.Q)};
  for (const core::HplField* field : fields_) cells.push_back(std::to_string(field->get(p)));
  cells.insert(cells.end(), others.begin(), others.end());
  return cells;
}

std::string ParameterColumns::rest_of(const core::HplParameters& p) const {
  return core::joined(rest_, " ", [&](const core::HplField* field) {
    return std::string(field->name) + "=" + std::to_string(field->get(p));
  });
}

namespace {

/// A column of the table.
struct Column {
  std::string name;
  std::function<std::string(const core::Prediction&)> text;
};

std::vector<Column> result_columns(const std::vector<core::Prediction>& predictions,
                                   const core::ClusterModel& cluster) {
  const auto share = [&cluster](const core::Prediction& p) {
    const double peak = study::dgemm_peak_gflops(cluster, p.parameters.P * p.parameters.Q);
    return peak > 0 ? percent(p.gflops / peak) : std::string();
  };
  std::vector<Column> columns = {{"seed", [](const auto& p) { return std::to_string(p.seed); }},
                                 {"mode", [](const auto& p) { return p.mode; }},
                                 {"time [s]", [](const auto& p) { return significant(p.time_s); }},
                                 {"Gflop/s", [](const auto& p) { return significant(p.gflops); }}};
  const auto any = [&](const auto& has) { return std::any_of(predictions.begin(), predictions.end(), has); };
  if (any([](const auto& p) { return p.sampling.has_value(); }))
    columns.push_back({"95 % error", [](const auto& p) {
                         return p.sampling ? percent(p.error_95_s / p.time_s) : std::string("all panels");
                       }});
  const auto with_interval = [](const core::Prediction& p) { return p.interval.has_value(); };
  if (const auto first = std::find_if(predictions.begin(), predictions.end(), with_interval);
      first != predictions.end())
    columns.push_back({core::shortest(first->interval->level_percent) + " % of runs", [](const auto& p) {
                         return p.interval ? significant(p.interval->low_gflops) + " to " +
                                                 significant(p.interval->high_gflops)
                                           : std::string();
                       }});
  if (any([](const auto& p) { return p.detours_s > 0; }))
    columns.push_back({"detours [s]", [](const auto& p) { return significant(p.detours_s); }});
  if (any([](const auto& p) { return p.energy.has_value(); })) {
    const auto of = [](double core::Energy::*member, double unit) {
      return
          [=](const core::Prediction& p) { return p.energy ? significant(*p.energy.*member / unit) : std::string(); };
    };
    columns.push_back({"energy [kJ]", of(&core::Energy::energy_j, 1e3)});
    columns.push_back({"power [W]", of(&core::Energy::mean_power_w, 1)});
    columns.push_back({"Gflop/s per W", of(&core::Energy::gflops_per_w, 1)});
  }
  if (cluster.kernels.count("dgemm") > 0) columns.push_back({"of dgemm's peak", share});
  columns.push_back({"took [s]", [](const auto& p) { return significant(p.wall_s, 3); }});
  columns.push_back({"memory [MB]", [](const auto& p) {
                       return p.wall_s < p.least_s_with_memory ? "-" : significant(p.peak_pss_bytes / 1e6, 3);
                     }});
  return columns;
}

/// The answer in a sentence, and what makes it uncertain.
void write_interval(std::ostream& out, const core::Prediction& prediction) {
  const core::PredictiveInterval& interval = *prediction.interval;
  std::vector<std::string> terms;
  for (const core::ErrorTerm& term : interval.terms) {
    const bool assumed = core::begins_with(term.source, "default");
    terms.push_back(term.name + " " + percent(term.sd) + (assumed ? "*" : ""));
  }
  out << significant(prediction.gflops) << " Gflop/s predicted; " << core::shortest(interval.level_percent)
      << " % of real runs from " << significant(interval.low_gflops) << " to " << significant(interval.high_gflops)
      << " Gflop/s. Standard deviations: " << core::comma_separated(terms)
      << " (*: default, docs/models/interval.md)\n";
}

void write_best(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  std::map<core::HplParameters, std::vector<core::Prediction>> of;
  for (const core::Prediction& p : predictions) of[p.parameters].push_back(p);
  if (predictions.size() < 2) return;
  std::vector<const std::vector<core::Prediction>*> configurations;
  std::vector<std::vector<double>> values;
  for (const auto& [parameters, seeds] : of) {
    configurations.push_back(&seeds);
    values.emplace_back();
    for (const core::Prediction& p : seeds) values.back().push_back(p.gflops);
  }
  const study::SeedMeans means(values);
  if (of.size() == 1) {
    out << study::mean_text(means, 0) << " Gflop/s: mean of " << means.seeds(0) << " seeds, with its 95 % interval\n";
    return;
  }
  const std::size_t best = means.best();
  std::size_t next = best == 0 ? 1 : 0;
  for (std::size_t i = 0; i < means.size(); ++i)
    if (i != best && means.mean(i) > means.mean(next)) next = i;
  const auto name = [&](std::size_t i) { return core::to_string(configurations[i]->front().parameters); };
  const std::optional<double> half = means.half_width(best);
  out << "Best: " << name(best) << ": " << significant(means.mean(best));
  if (half) out << " +- " << significant(*half, 2);
  out << " Gflop/s (";
  if (means.seeds(best) > 1)
    out << "mean of " << means.seeds(best) << " seeds" << study::equals_text(means, best);
  else
    out << "one seed";
  out << ")";
  if (configurations[best]->front().interval && configurations[next]->front().interval)
    out << "; faster than the next, " << name(next) << ", with probability "
        << significant(study::probability_faster(*configurations[best], *configurations[next]), 2);
  out << '\n';
}

}  // namespace

void write_prediction_table(std::ostream& out, const std::vector<core::Prediction>& predictions,
                            const core::ClusterModel& cluster) {
  const auto configurations = core::mapped(predictions, &core::Prediction::parameters);
  const bool single = predictions.size() == 1;  // of one also those that people change most
  const ParameterColumns parameters(
      configurations, single ? std::vector<std::string>{"BCAST", "DEPTH", "SWAP"} : std::vector<std::string>());
  const std::vector<Column> results = result_columns(predictions, cluster);
  TextTable table(parameters.with(core::mapped(results, [](const Column& column) { return column.name; })));
  std::vector<core::Prediction> sorted = predictions;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.gflops > b.gflops; });
  for (const core::Prediction& prediction : sorted) {
    const auto text_of = [&](const Column& column) { return column.text(prediction); };
    table.add(parameters.with(prediction.parameters, core::mapped(results, text_of)));
  }
  table.write(out);
  if (single && predictions.front().interval && !is_quiet()) write_interval(out, predictions.front());
  if (predictions.size() < 2 || is_quiet()) return;
  const std::string common = parameters.rest_of(predictions.front().parameters);
  if (!common.empty()) out << "All: " << common << '\n';
  write_best(out, predictions);
}

void write_phases(std::ostream& out, const std::string& of, const std::vector<core::PhaseSummary>& phases) {
  out << "\nTime per phase in s, mean over the ranks (least and most: of any rank), " << of << '\n';
  double all_s = 0, detours_s = 0;
  for (const core::PhaseSummary& phase : phases) {
    all_s += phase.elapsed_s;
    detours_s += phase.detours_s;
  }
  std::vector<std::string> names = {"phase", "time", "least", "most", "kernels", "messages", "waiting", "share"};
  if (detours_s > 0) names.insert(names.end() - 1, "detours");
  TextTable table(names);
  for (const core::PhaseSummary& phase : phases) {
    std::vector<std::string> row = {phase.name,
                                    significant(phase.elapsed_s),
                                    significant(phase.least_s),
                                    significant(phase.most_s),
                                    significant(phase.kernels_s),
                                    significant(phase.messages_s),
                                    significant(phase.waiting_s),
                                    percent(phase.elapsed_s / std::max(all_s, std::numeric_limits<double>::min()))};
    constexpr double rounding = 1e-12;  // of a difference of two moments
    if (detours_s > 0) row.insert(row.end() - 1, significant(phase.detours_s > rounding * all_s ? phase.detours_s : 0));
    table.add(std::move(row));
  }
  table.write(out);
}

void write_phases(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  for (const core::Prediction& prediction : predictions)
    write_phases(out, core::to_string(prediction.parameters) + " seed=" + std::to_string(prediction.seed),
                 prediction.phases);
}

namespace {

/// The states that take the most energy; the small ones together.
std::vector<core::StateEnergy> largest_states(const core::Energy& energy, double time_s) {
  constexpr double small = 0.005;
  std::vector<core::StateEnergy> large;
  core::StateEnergy rest{"others", 0, 0};
  for (const core::StateEnergy& state : energy.states) {
    if (state.time_s >= small * time_s || state.energy_j >= small * energy.energy_j) {
      large.push_back(state);
    } else {
      rest.time_s += state.time_s;
      rest.energy_j += state.energy_j;
    }
  }
  std::stable_sort(large.begin(), large.end(), [](const auto& a, const auto& b) { return a.time_s > b.time_s; });
  if (rest.time_s > 0) large.push_back(rest);
  return large;
}

void write_levels(std::ostream& out, const core::Prediction& prediction) {
  constexpr double minute_s = 60;
  const core::Energy& energy = *prediction.energy;
  if (!energy.levels) {
    out << "Green500: "
        << (prediction.sampling            ? "levels need the power over time of all panels (--windows off)\n"
            : prediction.time_s < minute_s ? "no level allows a run of less than a minute\n"
                                           : "levels need the power in bins of at most a second (--bin)\n");
    return;
  }
  const core::PowerLevels& levels = *energy.levels;
  const auto [least, most] = std::minmax_element(levels.level2_w.begin(), levels.level2_w.end());
  out << "Green500: level 1 " << significant(levels.level1_w, 5) << " W; level 2 tenths of " << significant(*least, 5)
      << " to " << significant(*most, 5) << " W; level 3 " << significant(levels.level3_j / 1e3, 5) << " kJ\n";
  for (const core::SamplingError& one : levels.sampling)
    out << "  a sample every " << significant(one.interval_s, 3) << " s: " << one.samples << " samples, off by at most "
        << percent(one.worst) << ", " << percent(one.mean) << " on average\n";
}

}  // namespace

void write_energy(std::ostream& out, const std::string& of, const core::Energy& energy, double run_s) {
  constexpr double large_j = 1e5;
  const bool large = energy.energy_j >= large_j;
  out << "\nEnergy by what draws it, " << of << '\n';
  TextTable table({"what", "time [s]", "share", large ? "energy [kJ]" : "energy [J]", "share"});
  const auto add = [&](const std::string& what, double time_s, double energy_j) {
    table.add({what, significant(time_s), percent(time_s / run_s), significant(large ? energy_j / 1e3 : energy_j),
               percent(energy.energy_j > 0 ? energy_j / energy.energy_j : 0)});
  };
  add("hosts, idle", run_s, energy.idle_j);
  add("hosts, awake", energy.awake_share * run_s, energy.awake_j);
  if (energy.network_j > 0) add("network", run_s, energy.network_j);
  for (const core::StateEnergy& state : largest_states(energy, run_s)) add(state.name, state.time_s, state.energy_j);
  table.write(out);
}

void write_energy(std::ostream& out, const core::Prediction& prediction) {
  write_energy(out, core::to_string(prediction.parameters) + " seed=" + std::to_string(prediction.seed),
               *prediction.energy, prediction.time_s);
  write_levels(out, prediction);
}

}  // namespace hplcast::cli
