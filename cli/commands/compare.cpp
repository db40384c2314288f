#include "hplcast/study/compare.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/prediction_results.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/history.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> real, predicted;
  bool json = false;
  std::string output;
  std::string worst;
  std::string ledger, ledger_date;
  std::string time_from;   ///< of programs other than HPL: a pattern, or `run`: the time of the whole run
  std::string match_from;  ///< of them
  std::optional<double> max_error;
};

/// Wall time of the slowest rank in an archive of `hplcast observe`, from its start to its end.
std::optional<double> longest_wall_s(const std::map<std::string, std::string>& files, const std::string& path) {
  std::optional<double> longest_s;
  for (const auto& [file, text] : files) {
    if (!core::ends_with(file, ".times.csv")) continue;
    core::CsvReader reader(core::TextStream(text), path + ":" + file);
    const std::size_t what = reader.column("what"), time = reader.column("time_s");
    while (reader.next())
      if (reader.text(what) == "wall") longest_s = std::max(longest_s.value_or(0), reader.positive(time));
  }
  return longest_s;
}

study::ProgramOutput real_output(const std::string& path) {
  if (!calibration::has_archive_name(path)) {
    study::ProgramOutput printed{path, core::read_text(path), std::nullopt};
    if (study::is_program_run(printed.text))
      throw core::ParseError({path, 0, ""},
                             "JSON of `hplcast run`, a prediction; expected what the program printed in a real run, or "
                             "an archive of `hplcast observe`",
                             "predictions come after --predicted");
    return printed;
  }
  const auto files = calibration::read_archive(path);
  const auto run = calibration::read_observed_run(files, path);
  const auto output = files.find("program.out");  // there is none if it printed nothing
  if (output == files.end() && !run)
    throw core::ParseError({path, 0, ""}, "no program.out in it; expected an archive of `hplcast observe`");
  const std::string text = output == files.end() ? "" : output->second;
  study::ProgramOutput observed{path, text, longest_wall_s(files, path)};
  if (run) {
    observed.program = std::filesystem::path(run->program).filename().string();
    observed.arguments = core::joined(run->arguments, " ");
    observed.ranks = run->ranks;
    observed.control = run->control;
  }
  return observed;
}

void write_program_table(std::ostream& out, const study::ProgramComparison& comparison) {
  const bool valid = comparison.disturbances.empty();
  if (!valid) out << study::validity_text(comparison) << "\n\n";
  TextTable table({"configuration", "runs", "real [s]", "spread", "predicted [s]", "error of the time"});
  for (const study::ComparedProgram& row : comparison.rows)
    table.add({row.configuration.empty() ? "all" : row.configuration, std::to_string(row.real_s.size()),
               significant(row.real_median), percent(row.real_spread), significant(row.predicted_median),
               signed_percent(row.error)});
  table.write(out);
  out << "\n|error|" << (valid ? "" : " (not valid)") << ": median " << percent(comparison.summary.median_abs_error)
      << ", worst " << percent(comparison.summary.max_abs_error) << "; bias " << signed_percent(comparison.summary.bias)
      << "; " << core::counted(comparison.rows.size(), "configuration") << '\n';
}

/// @throws core::Error (limit_exceeded) for an error above the limit, if there is one.
void check_limit(double max_abs_error, const std::optional<double>& limit) {
  if (!limit || max_abs_error <= *limit) return;
  std::cout.flush();
  throw core::Error(core::ExitCode::limit_exceeded,
                    "the worst error is " + percent(max_abs_error) + ", more than --max-error " + percent(*limit));
}

/// `hplcast compare` of programs other than HPL: with --time-from.
void compare_program_runs(const CompareOptions& options) {
  study::OutputPatterns patterns{options.time_from == "run" ? "" : options.time_from, options.match_from};
  std::vector<study::ProgramOutput> real, predicted;
  warn_of_repeated(options.real);
  warn_of_repeated(options.predicted);
  for (const std::string& path : options.real) real.push_back(real_output(path));
  for (const std::string& path : options.predicted) predicted.push_back(read_from(path, study::read_program_output));
  const study::ProgramComparison comparison = study::compare_programs(real, predicted, patterns);
  warn_all(comparison.warnings);
  for (const std::string& one : comparison.unmatched_real) warn("run but not predicted: " + one);
  for (const std::string& one : comparison.unmatched_predicted) warn("predicted but not run: " + one);
  if (options.json || !options.output.empty())
    write_result(options.output, [&](std::ostream& out) { study::write_program_comparison(out, comparison); });
  if (!options.json) write_program_table(std::cout, comparison);
  check_limit(comparison.summary.max_abs_error, options.max_error);
}

/// The runs of outputs and CSV files, and of archives and folders with outputs.
std::vector<core::HplRun> read_runs(const std::vector<std::string>& paths) {
  std::vector<core::HplRun> all;
  warn_of_repeated(paths);
  for (const std::string& path : paths) {
    const bool is_folder = std::filesystem::is_directory(path);
    if (is_folder || calibration::has_archive_name(path)) {
      const auto files = is_folder ? calibration::read_folder(path) : calibration::read_archive(path);
      core::append(all, study::runs_of_files(files, path, warn));
    } else {
      core::append(all, read_from(path, study::runs_of_file, warn));
    }
  }
  return all;
}

/// Watts and Gflop/s per W beside each other, of what was measured and predicted.
void write_energy_table(std::ostream& out, const study::Comparison& comparison, const ParameterColumns& parameters) {
  TextTable table(parameters.with({"real [W]", "predicted [W]", "error", "real [kJ]", "predicted [kJ]", "error",
                                   "real [Gflop/s/W]", "predicted [Gflop/s/W]"}));
  bool any = false;
  for (const auto& row : comparison.rows) {
    if (!row.energy) continue;
    any = true;
    const study::EnergyMedians &real = row.energy->real, &predicted = row.energy->predicted;
    table.add(parameters.with(row.parameters,
                              {significant(real.mean_power_w), significant(predicted.mean_power_w),
                               signed_percent(row.energy->power_error), significant(real.energy_j / 1e3),
                               significant(predicted.energy_j / 1e3), signed_percent(row.energy->energy_error),
                               significant(real.gflops_per_w), significant(predicted.gflops_per_w)}));
  }
  if (!any) return;
  out << '\n';
  table.write(out);
}

/// The parts of the errors, where controls tell them.
void write_control(std::ostream& out, const study::Comparison& comparison, const ParameterColumns& parameters) {
  if (!comparison.control) {
    tell("errors are not divided into machine and model: " + comparison.why_no_control);
    return;
  }
  TextTable table(parameters.with({"control: calibration [ms]", "runs [ms]", "kernels in runs", "error",
                                   "machine changed", "model", "scatter", "corrected error"}));
  for (const auto& row : comparison.rows) {
    if (!row.parts) continue;
    table.add(parameters.with(
        row.parameters, {significant(1e3 * row.parts->calibration_s), significant(1e3 * row.parts->run_s),
                         row.parts->kernels ? signed_percent(*row.parts->kernels) : "-", signed_percent(row.error),
                         signed_percent(row.parts->machine), signed_percent(row.parts->model),
                         signed_percent(row.parts->scatter), signed_percent(row.parts->corrected_error)}));
  }
  out << '\n';
  table.write(out);
  out << "\n|corrected error|: median " << percent(comparison.control->median_corrected_error) << ", worst "
      << percent(comparison.control->max_corrected_error) << "; the control (dgemm " << comparison.control->shape
      << ") took " << signed_percent(comparison.control->median_slowdown) << " at the runs";
  if (comparison.control->coefficient)
    out << ", of which " << percent(*comparison.control->coefficient) << " counts\n";
  else
    out << ", kernels in them " << signed_percent(*comparison.control->median_kernels)
        << " compared with the prediction: as " << signed_percent(*comparison.control->median_machine)
        << " of the machine\n";
}

/// All configurations of one side: those that matched, and those that did not.
std::vector<core::HplParameters> all_of(const study::Comparison& comparison,
                                        std::vector<core::HplParameters> unmatched) {
  for (const auto& row : comparison.rows) unmatched.push_back(row.parameters);
  return unmatched;
}

void write_table(std::ostream& out, const study::Comparison& comparison) {
  if (!comparison.disturbances.empty()) out << study::validity_text(comparison) << "\n\n";
  const auto is_sampled = [](const study::ComparedConfiguration& row) { return row.sampling_error_95.has_value(); };
  const bool sampled = std::any_of(comparison.rows.begin(), comparison.rows.end(), is_sampled);
  const ParameterColumns parameters(all_of(comparison, {}));
  std::vector<std::string> header = {"runs",  "real [Gflop/s]", "spread", "predicted [Gflop/s]",
                                     "error", "95 % interval"};
  if (sampled) header.push_back("sampling error");
  const auto has_interval = [](const study::ComparedConfiguration& row) { return row.interval.has_value(); };
  const bool intervals = std::any_of(comparison.rows.begin(), comparison.rows.end(), has_interval);
  if (intervals) header.insert(header.end(), {"predicted interval", "runs inside"});
  TextTable table(parameters.with(header));
  for (const auto& row : comparison.rows) {
    std::string error;
    if (const auto& all = row.error_interval) error = signed_percent(all->lower) + " to " + signed_percent(all->upper);
    std::vector<std::string> cells = {
        std::to_string(row.real_gflops.size()), significant(row.real_median), percent(row.real_spread),
        significant(row.predicted_median),      signed_percent(row.error),    error};
    if (sampled) cells.push_back(row.sampling_error_95 ? percent(*row.sampling_error_95) : "all panels");
    if (row.interval) {
      cells.push_back(significant(row.interval->low_gflops) + " to " + significant(row.interval->high_gflops));
      cells.push_back(std::to_string(row.interval->runs_inside) + " of " + std::to_string(row.real_gflops.size()));
    } else if (intervals) {
      cells.insert(cells.end(), 2, "");
    }
    table.add(parameters.with(row.parameters, cells));
  }
  table.write(out);
  write_energy_table(out, comparison, parameters);
  const auto& summary = comparison.summary;
  out << "\n|error|" << (comparison.disturbances.empty() ? "" : " (not valid)") << ": median "
      << percent(summary.median_abs_error) << ", mean " << percent(summary.mean_abs_error) << ", worst "
      << percent(summary.max_abs_error) << "; bias " << signed_percent(summary.bias);
  if (summary.rank_correlation) out << "; rank correlation " << significant(*summary.rank_correlation, 3);
  out << "; " << core::counted(summary.n, "configuration") << '\n';
  const study::IntervalCount inside = study::count_inside(comparison);
  if (inside.runs > 0)
    out << inside.inside << " of " << inside.runs << " real runs (" << percent(inside.share())
        << ") lie inside the predicted intervals of " << core::shortest(inside.level_percent) << " %\n";
  if (comparison.best) {
    const auto& best = *comparison.best;
    out << "best predicted at N=" << best.parameters.N << ": number " << best.real_rank << " of " << best.configurations
        << " real ones, " << percent(best.loss) << " below the best"
        << (best.among_best ? " (within its scatter)\n" : "\n");
  }
  write_control(out, comparison, parameters);
}

void report_unmatched(const study::Comparison& comparison) {
  constexpr std::size_t most = 20;
  const auto tell = [most](const std::vector<core::HplParameters>& list, const char* what, const char* nearest,
                           const std::vector<core::HplParameters>& others) {
    for (std::size_t i = 0; i < std::min(most, list.size()); ++i) {
      const std::string difference = study::nearest_difference(list[i], others);
      warn(std::string(what) + ": " + core::to_string(list[i]));
      if (!difference.empty()) std::cerr << "  " << nearest << " differs: " << difference << " as there\n";
    }
    if (list.size() > most) warn(std::string(what) + ": " + std::to_string(list.size() - most) + " more");
  };
  tell(comparison.unmatched_real, "run but not predicted", "the nearest prediction",
       all_of(comparison, comparison.unmatched_predicted));
  tell(comparison.unmatched_predicted, "predicted but not run", "the nearest run",
       all_of(comparison, comparison.unmatched_real));
  if (comparison.failed_residuals > 0)
    warn(std::to_string(comparison.failed_residuals) + " real runs left out: HPL says that their results are wrong");
}

/// For run-real, predict and explain.
const core::HplParameters& worst_of(const study::Comparison& comparison) {
  const auto larger = [](const auto& a, const auto& b) { return std::abs(a.error) < std::abs(b.error); };
  return std::max_element(comparison.rows.begin(), comparison.rows.end(), larger)->parameters;
}

/// --append-to-ledger. @throws core::Error if the file is there and is no ledger.
void append_to_ledger(const CompareOptions& options, const study::Comparison& comparison,
                      const std::vector<core::Prediction>& predicted) {
  const std::string date = options.ledger_date.empty() ? core::utc_now().substr(0, 10) : options.ledger_date;
  std::vector<study::LedgerRow> ledger;
  if (std::filesystem::exists(options.ledger)) ledger = read_from(options.ledger, study::read_ledger);
  const std::vector<study::LedgerRow> rows = study::ledger_rows(comparison, predicted, date);
  std::size_t runs = 0;
  for (const study::ComparedConfiguration& row : comparison.rows) runs += row.real_gflops.size();
  if (runs > rows.size())
    warn(core::counted(runs - rows.size(), "run") + " left out of " + options.ledger +
         ": beyond thirty times, or below a thirtieth of, the predicted rate");
  const std::size_t added = study::append(ledger, rows);
  write_result(options.ledger, [&](std::ostream& out) { study::write_ledger(out, ledger); });
  tell(std::to_string(added) + " runs were added to " + options.ledger + ", which has " +
       std::to_string(ledger.size()));
}

/// Predictions among the real runs: files that look so, or if there are none, streams, into which nobody can look.
void take_predictions(CompareOptions& options) {
  for (const auto& is_one : {std::function(is_prediction_file), std::function<bool(const std::string&)>(is_stream)}) {
    if (!options.predicted.empty()) continue;
    const auto first = std::stable_partition(options.real.begin(), options.real.end(), std::not_fn(is_one));
    options.predicted.assign(first, options.real.end());
    options.real.erase(first, options.real.end());
  }
  // A file that cannot be read is neither: its error tells more.
  if (options.predicted.empty() && options.real.size() > 1)
    for (const std::string& path : options.real)
      if (core::ends_with(path, ".json") || core::ends_with(path, ".json.gz") || !std::filesystem::exists(path))
        read_from(path, [](auto& in, const auto& name) { return core::read_text(in, name, "expected predictions"); });
  for (const auto& [files, what] : {std::pair(&options.real, "real runs"), {&options.predicted, "predictions"}})
    if (files->empty())
      throw core::UsageError(std::string("there are no ") + what +
                             "; expected real runs and predictions: hplcast compare real.csv predictions.json");
}

void run_compare(CompareOptions options) {
  unify_json_output(options.json, options.output);
  take_predictions(options);
  if (!options.time_from.empty()) return compare_program_runs(options);
  const std::vector<core::HplRun> real = read_runs(options.real);
  const std::vector<core::Prediction> predicted = study::read_compared_predictions(options.predicted, warn);
  const study::Comparison comparison = study::compare(real, predicted);
  report_unmatched(comparison);
  warn_all(study::implausible_runs(real, predicted, comparison));
  warn_all(study::differing_software(real, predicted));
  if (comparison.rows.empty()) {
    throw InputError(
        "no configuration is both run and predicted\n  hint: all HPL parameters must agree; the warnings "
        "above say in which ones they differ");
  }
  if (options.json || !options.output.empty())
    write_result(options.output, [&](std::ostream& out) { study::write_comparison(out, comparison); });
  if (!options.worst.empty())
    write_result(options.worst, [&](std::ostream& out) { core::write_hpl_csv(out, worst_of(comparison)); });
  if (!options.ledger.empty()) append_to_ledger(options, comparison, predicted);
  if (!options.json) write_table(std::cout, comparison);
  check_limit(comparison.summary.max_abs_error, options.max_error);
}

}  // namespace

void setup_compare(Command& app) {
  Command& command = add_command(app, "compare", "Compare predictions with real HPL runs",
                                 "hplcast compare real.csv predictions.json --max-error 0.2");
  auto& options = command.runs<CompareOptions>(run_compare);
  command.add_option(
      "real", options.real,
      "real runs: HPL's output, an archive or folder with outputs, or CSV with columns N, NB, P, Q, time_s; "
      "several: repetitions add up. Without --predicted, predictions are among them",
      required, reads("REAL"));
  command.add_option("--predicted", options.predicted,
                     "predictions (JSON of hplcast predict, or database of hplcast sweep)", reads("PRED"));
  Option* time_from =
      command.add_option("--time-from", options.time_from,
                         "a program other than HPL: where its output has its time, 'time ([0-9.]+) s'; or run: all of "
                         "its time. REAL: outputs, archives of observe; PRED: JSON of hplcast run",
                         of_type("REGEX"));
  command.add_option("--match-from", options.match_from,
                     "what tells configurations apart in outputs, 'N=([0-9]+)' (default: there is one)",
                     needs(time_from), of_type("REGEX"));
  command.add_flag("--json", options.json, "write JSON (docs/formats/compare-json.md) instead of a table");
  command.add_output(options.output, "file for the JSON");
  command.add_option(
      "--worst", options.worst,
      "CSV of the configuration with the largest |error|: for run-real --phases, predict --phases, explain",
      writes("FILE"), excludes(time_from));
  Option* ledger = command.add_option("--append-to-ledger", options.ledger,
                                      "add each real run and its prediction to this ledger, which predict --ledger "
                                      "learns from; made if it is not there",
                                      writes("LEDGER.csv"), named_file, excludes(time_from));
  const auto take_date = [&options](const std::string& text) {
    constexpr std::size_t length_of_month = 7;
    try {
      study::parse_date(text.size() == length_of_month ? text + "-01" : text);
    } catch (const core::DomainError& error) {
      refuse_value("--ledger-date", error.what());
    }
    options.ledger_date = text;
  };
  command.add_option_function<std::string>("--ledger-date", take_date,
                                           "when the real runs were made, as 2026-11, 2026-11-25 or 2026-11-25T14:20: "
                                           "equal dates are one occasion (default: today, UTC)",
                                           of_type("DATE"), needs(ledger));
  command.add_option("--max-error", options.max_error, "largest |error| allowed: 0.2 or 20%; more exits with 5",
                     as_ratio);
}

}  // namespace hplcast::cli
