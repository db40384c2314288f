#include <algorithm>
#include <map>
#include <ostream>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/compare.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "study/compare/parameters_json.hpp"

namespace hplcast::study {

namespace {

/// Warns of parameters that a file of real runs does not give.
void warn_of_assumptions(const std::string& file, const std::vector<core::HplRun>& runs, const Warn& warn) {
  std::map<std::string, std::size_t> assumed;  // the list to the number of runs
  for (const core::HplRun& run : runs) {
    std::string list;
    for (const core::HplField& field : core::hpl_fields()) {
      if (std::find(run.assumed.begin(), run.assumed.end(), field.name) == run.assumed.end()) continue;
      list += (list.empty() ? "" : " ") + std::string(field.name) + "=" + std::to_string(field.get(run.parameters));
    }
    if (!list.empty()) ++assumed[list];
  }
  for (const auto& [list, count] : assumed)
    warn(file + " does not say all parameters of " + core::counted(count, "run") + "; assumed: " + list +
         "\n  (HPL's output says them in its header, a CSV in columns)");
}

/// @throws core::Error if predictions of several models would be taken for several seeds of one.
void refuse_several_models(const std::vector<core::Prediction>& predicted, const Warn& warn) {
  const std::vector<std::string> models = models_of(predicted);
  if (models.size() < 2) return;
  const std::string list = core::comma_separated(models);
  if (const auto mixed = mixed_models(predicted)) {
    throw core::InputError(core::to_string(*mixed) + " is predicted with several models: " + list +
                           "\n  hint: compare each of them on its own");
  }
  warn("the predictions are of several models: " + list);
}

/// @throws core::ParseError that says how programs other than HPL are compared, if it is a prediction of one.
std::vector<core::Prediction> read_hpl_predictions(std::istream& in, const std::string& name) {
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return core::read_predictions(core::TextStream(text), name);
  } catch (const core::Error&) {
    if (!is_program_run(text)) throw;
    throw core::ParseError({name, 0, ""}, "JSON of `hplcast run`; expected predictions of HPL",
                           "--time-from compares programs other than HPL");
  }
}

}  // namespace

std::vector<core::HplRun> runs_of_file(std::istream& in, const std::string& name, const Warn& warn) {
  std::istringstream text(core::read_text(in, name, "expected HPL's output, or a CSV with columns N and time_s"));
  const std::vector<core::HplRun> runs = core::read_real_runs(text, name);
  const auto unchecked =
      std::count_if(runs.begin(), runs.end(), [](const core::HplRun& run) { return !run.residual_checked; });
  if (unchecked > 0 && text.str().find("scaled residuals are less than") != std::string::npos)
    warn(name + ": HPL was to check its results, but of " + std::to_string(unchecked) + " of " +
         std::to_string(runs.size()) + " runs the residual is missing: was the output cut off?");
  warn_of_assumptions(name, runs, warn);
  return runs;
}

std::vector<core::HplRun> runs_of_files(const std::map<std::string, std::string>& files, const std::string& path,
                                        const Warn& warn) {
  std::vector<core::HplRun> all;
  for (const auto& [file, text] : files) {
    if (!core::has_hpl_results(text)) continue;
    core::append(all, runs_of_file(core::TextStream(text), path + ":" + file, warn));
  }
  if (all.empty()) {
    const bool observed = files.count("program.out") != 0;
    throw core::ParseError(
        {path, 0, ""}, "no output of HPL in it (lines like `WR11C2R4 ...`)",
        observed ? "an archive of `hplcast observe`: --time-from compares programs other than HPL" : "");
  }
  return all;
}

std::vector<core::Prediction> read_compared_predictions(const std::vector<std::string>& paths, const Warn& warn) {
  std::vector<core::Prediction> predicted;
  for (const std::string& path : paths)
    core::append(predicted,
                 is_sqlite_file(path) ? predictions_of_one_cluster(path) : core::read_from(path, read_hpl_predictions));
  refuse_several_models(predicted, warn);
  return predicted;
}

namespace {

Json parts_json(const ErrorParts& parts) {
  Json json = {{"calibration_control_s", parts.calibration_s}, {"run_control_s", parts.run_s}};
  if (parts.kernels) json["kernels"] = *parts.kernels;
  json.update(HPLCAST_JSON(parts, machine, model, scatter, corrected_error));
  return json;
}

Json energy_json(const ComparedEnergy& energy) {
  return {{"real_energy_j", energy.real.energy_j},
          {"predicted_energy_j", energy.predicted.energy_j},
          {"energy_error", energy.energy_error},
          {"real_mean_power_w", energy.real.mean_power_w},
          {"predicted_mean_power_w", energy.predicted.mean_power_w},
          {"power_error", energy.power_error},
          {"real_gflops_per_w", energy.real.gflops_per_w},
          {"predicted_gflops_per_w", energy.predicted.gflops_per_w},
          {"real_runs", energy.real.runs},
          {"predicted_runs", energy.predicted.runs}};
}

}  // namespace

void write_comparison(std::ostream& out, const Comparison& comparison) {
  Json json;
  json["rows"] = Json::array();
  for (const auto& row : comparison.rows) {
    auto row_json = Json(row.parameters);
    row_json["real_gflops"] = row.real_median;
    row_json["real_spread"] = row.real_spread;
    row_json["real_runs"] = row.real_gflops.size();
    row_json["predicted_gflops"] = row.predicted_median;
    row_json["predicted_runs"] = row.predicted_gflops.size();
    if (row.sampling_error_95) row_json["sampling_error_95"] = *row.sampling_error_95;
    row_json["error"] = row.error;
    if (row.error_interval) row_json["error_interval"] = {row.error_interval->lower, row.error_interval->upper};
    if (row.energy) row_json["energy"] = energy_json(*row.energy);
    if (row.interval)
      row_json["interval"] = HPLCAST_JSON(*row.interval, level_percent, low_gflops, high_gflops, runs_inside);
    if (row.parts) row_json["parts"] = parts_json(*row.parts);
    json["rows"].push_back(std::move(row_json));
  }
  const auto& summary = comparison.summary;
  json.update(HPLCAST_JSON(summary, mean_abs_error, median_abs_error, max_abs_error, bias));
  json["rank_correlation"] = summary.rank_correlation ? Json(*summary.rank_correlation) : nullptr;
  json["n"] = summary.n;
  json["valid"] = comparison.disturbances.empty();
  if (!comparison.disturbances.empty()) json["disturbances"] = comparison.disturbances;
  if (const IntervalCount count = count_inside(comparison); count.runs > 0)
    json["interval"] = HPLCAST_JSON(count, level_percent, runs, inside);
  if (const auto& control = comparison.control) {
    auto& control_json = json["control"] = {{"shape", control->shape}};
    if (control->coefficient) control_json["coefficient"] = *control->coefficient;
    control_json["median_slowdown"] = control->median_slowdown;
    if (control->median_kernels) control_json["median_kernels"] = *control->median_kernels;
    if (control->median_machine) control_json["median_machine"] = *control->median_machine;
    control_json["median_abs_corrected_error"] = control->median_corrected_error;
    control_json["max_abs_corrected_error"] = control->max_corrected_error;
  }
  if (comparison.best)
    json["best_predicted"] = HPLCAST_JSON(*comparison.best, parameters, configurations, real_rank, loss, among_best);
  json.update(HPLCAST_JSON(comparison, unmatched_real, unmatched_predicted, failed_residuals));
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::study
