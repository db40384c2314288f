#include "hplcast/study/compare.hpp"

#include <iostream>
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/configurations.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "output.hpp"
#include "program.hpp"

namespace hplcast::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> real;
  std::vector<std::string> predicted;
  bool json = false;
  std::string output;
  double max_error = 0;
};

study::Comparison compare_files(const CompareOptions& options) {
  std::vector<core::HplRun> real;
  for (const std::string& path : options.real) {
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      const auto runs = study::read_real_runs(in, name);
      real.insert(real.end(), runs.begin(), runs.end());
    });
  }
  std::vector<core::Prediction> predicted;
  for (const std::string& path : options.predicted) {
    if (study::is_sqlite_file(path)) {
      const auto predictions = study::predictions_of_one_cluster(path);
      predicted.insert(predicted.end(), predictions.begin(), predictions.end());
      continue;
    }
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      const auto predictions = core::read_predictions(in, name);
      predicted.insert(predicted.end(), predictions.begin(), predictions.end());
    });
  }
  return study::compare(real, predicted);
}

void write_table(std::ostream& out, const study::Comparison& comparison) {
  TextTable table({"N", "NB", "PxQ", "BCAST", "DEPTH", "runs", "real [Gflop/s]", "spread", "predicted [Gflop/s]",
                   "error", "95 % interval"});
  for (const auto& row : comparison.rows) {
    const core::HplParameters& p = row.parameters;
    table.add({std::to_string(p.N), std::to_string(p.NB), std::to_string(p.P) + "x" + std::to_string(p.Q),
               std::to_string(p.BCAST), std::to_string(p.DEPTH), std::to_string(row.real_gflops.size()),
               significant(row.real_median_gflops), percent(row.real_spread), significant(row.predicted_median_gflops),
               signed_percent(row.error),
               row.error_interval
                   ? signed_percent(row.error_interval->lower) + " to " + signed_percent(row.error_interval->upper)
                   : ""});
  }
  table.write(out);
  const auto& summary = comparison.summary;
  out << "\n|error|: median " << percent(summary.median_abs_error) << ", mean " << percent(summary.mean_abs_error)
      << ", worst " << percent(summary.max_abs_error) << "; bias " << signed_percent(summary.bias);
  if (summary.rank_correlation) out << "; rank correlation " << significant(*summary.rank_correlation, 3);
  out << "; " << summary.n << " configurations\n";
  if (comparison.best) {
    const auto& best = *comparison.best;
    out << "best predicted at N=" << best.parameters.N << ": number " << best.real_rank << " of " << best.configurations
        << " real ones, " << percent(best.loss) << " below the best"
        << (best.among_best ? " (within its scatter)\n" : "\n");
  }
}

void report_unmatched(const study::Comparison& comparison) {
  const auto tell = [](const std::vector<core::HplParameters>& list, const char* what) {
    for (const auto& parameters : list) {
      std::cerr << "hplcast compare: warning: " << what << ": " << core::to_string(parameters) << '\n';
    }
  };
  tell(comparison.unmatched_real, "run but not predicted");
  tell(comparison.unmatched_predicted, "predicted but not run");
  if (comparison.failed_residuals > 0) {
    std::cerr << "hplcast compare: warning: " << comparison.failed_residuals
              << " real runs left out: HPL says that their results are wrong\n";
  }
}

void run_compare(const CompareOptions& options, bool limited) {
  require_writable(options.output);
  const study::Comparison comparison = compare_files(options);
  report_unmatched(comparison);
  if (comparison.rows.empty()) {
    throw core::Error(core::ExitCode::bad_input,
                      "no configuration is both run and predicted\n  hint: all HPL parameters must agree; what HPL's "
                      "output does not show (SWAP, L1, U ...) is taken to be hplcast's default, a CSV can say it");
  }
  if (options.json || !options.output.empty()) {
    write_result(options.output, [&](std::ostream& out) { study::write_comparison(out, comparison); });
  }
  if (!options.json) write_table(std::cout, comparison);
  if (limited && comparison.summary.max_abs_error > options.max_error) {
    std::cout.flush();
    throw core::Error(core::ExitCode::limit_exceeded, "the worst error is " +
                                                          percent(comparison.summary.max_abs_error) +
                                                          ", more than --max-error " + percent(options.max_error));
  }
}

}  // namespace

void setup_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App& command = add_command(app, "compare", "Compare predictions with real HPL runs",
                                  "hplcast compare real.csv --predicted predictions.json --max-error 0.2");
  command.add_option("real", options->real, "real runs: HPL's output, or CSV with columns N, NB, P, Q, time_s")
      ->required()
      ->type_name("REAL");
  command
      .add_option("--predicted", options->predicted,
                  "predictions (JSON of hplcast predict, or database of hplcast sweep)")
      ->required()
      ->type_name("PRED");
  command.add_flag("--json", options->json, "write JSON (docs/compare.md) instead of a table");
  command.add_option("-o,--output", options->output, "file for the JSON")->type_name("FILE");
  CLI::Option* limit = command.add_option(
      "--max-error", options->max_error, "largest |error| allowed, as a ratio (0.2 for 20 percent); more exits with 5");
  limit->check(at_least_zero());
  command.callback([options, limit] { run_compare(*options, !limit->empty()); });
}

}  // namespace hplcast::cli
