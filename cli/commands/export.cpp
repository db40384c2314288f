#include <algorithm>

#include "cli/commands/commands.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::cli {

namespace {

struct ExportOptions {
  std::string predictions;
  std::string system = "*", variable = "Gflops", unit = "Gflop/s";
  bool lower_only = false;
  std::string output;
};

std::string python_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "'";
}

/// Several predictions are seeds of one configuration: the median, with the interval of the one nearest to it.
void run_export_reframe(const ExportOptions& options) {
  const std::vector<core::Prediction> predictions = read_from(options.predictions, core::read_predictions);
  std::vector<double> rates;
  for (const core::Prediction& one : predictions) {
    if (!(one.parameters == predictions.front().parameters) || one.cluster != predictions.front().cluster)
      throw InputError(options.predictions +
                       " has several configurations or clusters; expected one, which the check runs");
    if (!one.interval)
      throw InputError(options.predictions +
                       " has no interval; expected one\n  hint: `hplcast predict` gives one unless --interval off");
    rates.push_back(one.gflops);
  }
  const double rate = core::median(rates);
  const auto distance = [&](const core::Prediction& one) { return std::abs(one.gflops - rate); };
  const core::Prediction& middle = *std::min_element(
      predictions.begin(), predictions.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const core::PredictiveInterval& interval = *middle.interval;
  write_result(options.output, [&](std::ostream& out) {
    out << "# hplcast export reframe: HPL on " << middle.cluster << ", " << core::to_string(middle.parameters)
        << "\n# One run is inside with a probability of " << core::shortest(interval.level_percent)
        << " %, if the machine is as its model (" << middle.model_sha256.substr(0, 12) << ") says.\nreference = {\n    "
        << python_text(options.system) << ": {\n        " << python_text(options.variable) << ": ("
        << core::printed("%.6g, %.4f, ", rate, interval.low_gflops / middle.gflops - 1)
        << (options.lower_only ? "None" : core::printed("%.4f", interval.high_gflops / middle.gflops - 1)) << ", "
        << python_text(options.unit) << "),\n    },\n}\n";
  });
}

/// The columns of the lists of TOP500 and Green500 that a prediction knows.
void write_green500(std::ostream& out, const std::vector<core::Prediction>& predictions) {
  out << "Computer,Total Cores,Rmax [TFlop/s],Nmax,Power (kW),Energy Efficiency [GFlops/Watts]\n";
  for (const core::Prediction& one : predictions) {
    const long long ranks = static_cast<long long>(one.parameters.P) * one.parameters.Q;
    out << core::csv_field(one.cluster) << ',' << ranks * one.threads_per_rank << ','
        << core::shortest(one.gflops / 1e3) << ',' << one.parameters.N << ','
        << core::shortest(one.energy->mean_power_w / 1e3) << ',' << core::shortest(one.energy->gflops_per_w) << '\n';
  }
}

struct ExportedFile {
  std::string input, output;
};

void run_export_green500(const ExportedFile& options) {
  const std::vector<core::Prediction> predictions = read_from(options.input, core::read_predictions);
  for (const core::Prediction& one : predictions)
    if (!one.energy)
      throw InputError(options.input + " has no energy" + (predictions.size() > 1 ? " in one of its rows" : "") +
                       "; expected watts of the run\n  hint: `hplcast predict --energy`, with `power` in cluster.json");
  write_result(options.output, [&](std::ostream& out) { write_green500(out, predictions); });
}

void run_export_goal(const ExportedFile& options) {
  write_result(options.output, [&](std::ostream& out) {
    read_from(options.input, [&](auto& in, const auto& name) { platforms::write_goal(out, in, name); });
  });
}

}  // namespace

void setup_export(Command& app) {
  Command& group = add_command(app, "export", "Predictions for other tools", "hplcast export --help");
  group.require_subcommand(1);
  Command& command = add_command(group, "reframe", "A reference of ReFrame with limits, from a prediction",
                                 "hplcast export reframe predictions.json --system 'dahu:compute' -o reference.py");
  auto& options = command.runs<ExportOptions>(run_export_reframe);
  command.add_option("predictions", options.predictions,
                     "of one configuration; several seeds: their median, with its interval", required,
                     reads("PREDICTIONS.json"));
  command.add_option("--system", options.system, "SYSTEM:PARTITION in the configuration of ReFrame", of_type("SYSTEM"),
                     with_default);
  command.add_option("--variable", options.variable, "performance variable of the check", of_type("NAME"),
                     with_default);
  command.add_option("--unit", options.unit, "of that variable, as the check has it", of_type("UNIT"), with_default);
  command.add_flag("--lower-only", options.lower_only, "no upper limit: faster than predicted is fine");
  command.add_output(options.output, "Python (default: the standard output)");

  Command& green500 = add_command(group, "green500", "Rows with columns of the Green500, from predictions with energy",
                                  "hplcast predict examples/dahu-like.json -N 2000 --nb 128 -P 2 -Q 2 --energy -o "
                                  "predictions.json\nhplcast export green500 predictions.json");
  auto& rows = green500.runs<ExportedFile>(run_export_green500);
  green500.add_option("predictions", rows.input, "of `predict --energy`, a row each", required,
                      reads("PREDICTIONS.json"));
  green500.add_output(rows.output, "CSV (default: the standard output)");

  Command& goal = add_command(group, "goal", "A schedule for LogGOPSim or ATLAHS (GOAL), from a trace",
                              "hplcast predict examples/dahu-like.json -N 500 --nb 64 -P 2 -Q 2 --mode exact --trace "
                              "trace.json\nhplcast export goal trace.json -o hpl.goal");
  auto& schedule = goal.runs<ExportedFile>(run_export_goal);
  goal.add_option("trace", schedule.input, "of `predict --mode exact --trace` or `run-real --trace`", required,
                  reads("TRACE.json"));
  goal.add_output(schedule.output, "GOAL (default: the standard output)");
}

}  // namespace hplcast::cli
