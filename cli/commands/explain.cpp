#include "hplcast/study/explain.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

using study::Explanation;

void write_causes(std::ostream& out, const Explanation& e) {
  out << "\nWhat differs, and its share of the predicted time ("
      << (e.simulated ? "by simulations with one part after the other as measured, mean of the orders"
                      : "estimated from sums")
      << ")\n";
  TextTable table({"share", "seconds", "by order", "estimate", "cause"});
  table.end_with_words();
  const auto add = [&](double share_s, const std::string& orders, const std::string& estimate,
                       const std::string& text) {
    table.add({signed_percent(share_s / e.predicted_s), significant(share_s, 3), orders, estimate, text});
  };
  for (const study::Cause& cause : e.causes) {
    const std::string least = signed_percent(cause.least_s / e.predicted_s);
    const std::string most = signed_percent(cause.most_s / e.predicted_s);
    add(cause.share_s(), least == most ? "" : least + " to " + most, significant(cause.estimated_s, 3), cause.text);
  }
  add(e.rest_s, "", "", "not explained");
  add(e.difference_s(), "", "", "real less predicted");
  table.write(out);
}

void write_phase_differences(std::ostream& out, const Explanation& e) {
  if (e.phases.empty()) return;
  out << "\nTime per phase in s, mean over the ranks: real, predicted\n";
  TextTable table({"phase", "time", "", "kernels", "", "messages", "", "waiting", "", "ranks that stand out"});
  for (const study::PhaseDifference& phase : e.phases) {
    const core::PhaseSummary& r = phase.real;
    const core::PhaseSummary& p = phase.predicted;
    table.add({r.name, significant(r.elapsed_s), significant(p.elapsed_s), significant(r.kernels_s),
               significant(p.kernels_s), significant(r.messages_s), significant(p.messages_s), significant(r.waiting_s),
               significant(p.waiting_s),
               core::first_few(phase.far_ranks, 4, [](int rank) { return std::to_string(rank); })});
  }
  table.write(out);
}

/// The range of sizes with most of the difference, and whether calls scatter more than the model says.
std::string remark_of(const study::KernelDifference& kernel) {
  if (!kernel.has_model) return "no model";
  const study::KernelSizes* most = nullptr;
  double variance = 0, model_variance = 0, time_s = 0;
  for (const study::KernelSizes& sizes : kernel.sizes) {
    if (most == nullptr || std::abs(sizes.real_s - sizes.model_s) > std::abs(most->real_s - most->model_s))
      most = &sizes;
    if (sizes.samples < 2) continue;
    variance += sizes.real_s * sizes.real_scatter * sizes.real_scatter;
    model_variance += sizes.real_s * sizes.model_scatter * sizes.model_scatter;
    time_s += sizes.real_s;
  }
  std::string text;
  if (most != nullptr)
    text = "most at m n k of " + significant(most->least_product, 2) + " to " + significant(most->most_product, 2);
  if (time_s > 0)
    text +=
        "; scatter " + percent(std::sqrt(variance / time_s)) + ", model " + percent(std::sqrt(model_variance / time_s));
  for (const study::KernelDifference::Place& place : kernel.places)
    text += "; " + place.group.name + ": " + signed_percent(place.factor - 1);
  return text;
}

void write_kernels(std::ostream& out, const Explanation& e) {
  constexpr std::size_t shown = 10;
  out << "\nKernels: all ranks together, the model for the very same calls\n";
  TextTable table({"kernel", "calls", "real [s]", "model [s]", "level", "remark"});
  table.end_with_words();
  for (std::size_t i = 0; i < std::min(shown, e.kernels.size()); ++i) {
    const study::KernelDifference& one = e.kernels[i];
    table.add({one.kernel, core::printed("%.0f", one.calls), significant(one.real_s), significant(one.model_s),
               one.has_model ? signed_percent(one.level - 1) : "", remark_of(one)});
  }
  table.write(out);
}

void write_messages(std::ostream& out, const Explanation& e) {
  if (e.messages.empty()) return;
  constexpr double us_per_s = 1e6;
  out << "\nMessages that a receiver waited for: from when both were there until it had them "
         "(what most of them take, which latency and bandwidth are fitted to, and means)\n";
  TextTable table(
      {"scope", "bytes", "messages", "real [us]", "model [us]", "difference", "mean real [us]", "mean model [us]"});
  for (const study::MessageDifference& one : e.messages)
    table.add({core::to_string(one.scope), significant(one.least_bytes, 2) + " to " + significant(one.most_bytes, 2),
               core::printed("%.0f", one.messages), significant(one.usual_real_s * us_per_s, 3),
               significant(one.usual_model_s * us_per_s, 3), signed_percent(one.usual_real_s / one.usual_model_s - 1),
               significant(one.real_s * us_per_s, 3), significant(one.model_s * us_per_s, 3)});
  table.write(out);
}

/// For people: verdict, causes, phases, kernels, messages.
void write_explanation_table(std::ostream& out, const Explanation& explanation) {
  for (const std::string& line : study::verdict(explanation)) out << line << '\n';
  write_causes(out, explanation);
  write_phase_differences(out, explanation);
  write_kernels(out, explanation);
  write_messages(out, explanation);
}

struct ExplainOptions {
  std::string real, prediction, cluster, output;
  bool json = false;
  study::ExplainRequest request;
};

void run_explain(ExplainOptions& options) {
  unify_json_output(options.json, options.output);
  study::ExplainRequest& request = options.request;
  core::catch_interrupts();
  if (is_prediction_file(options.real) && !is_prediction_file(options.prediction))
    std::swap(options.real, options.prediction);
  request.runs = study::observed_runs(options.real);
  request.prediction = study::prediction_of_runs(options.prediction, request.runs);
  const core::HplParameters& p = request.prediction.parameters;
  require_begins_below("--ranks", request.first_rank, p.P * p.Q, core::to_string(p), "ranks");
  require_begins_below("--panels", request.first_panel, (p.N + p.NB - 1) / p.NB, core::to_string(p), "panels");
  request.cluster =
      study::at_levels(read_cluster_file(options.cluster), study::levels_of(request.prediction.model_levels));
  Progress progress;
  request.progress = [&](double done, const std::string& what) { progress.update(done, what); };
  const study::Explanation explanation = study::explain(request);
  progress.clear();
  warn_all(explanation.warnings);
  if (options.json || !options.output.empty())
    write_result(options.output, [&](std::ostream& out) { study::write_explanation(out, explanation); });
  if (!options.json) write_explanation_table(std::cout, explanation);
}

}  // namespace

void setup_explain(Command& app) {
  Command& command = add_command(app, "explain", "Explain why a real HPL run and its prediction differ",
                                 "hplcast explain observed.csv prediction.json --cluster cluster.json");
  auto& options = command.runs<ExplainOptions>(run_explain);
  study::ExplainRequest& request = options.request;
  command.add_option(
      "real", options.real,
      "the CSV of `hplcast run-real --phases`, or the folder of one of its runs: observed.csv.d/0001-...", required,
      reads("REAL"));
  command.add_option("prediction,--predicted", options.prediction,
                     "of the same configuration: JSON of `hplcast predict --phases`", required, reads("PREDICTION"));
  command.add_option("cluster,--cluster", options.cluster, "the cluster.json that it was predicted with", required,
                     reads("CLUSTER.json"));
  add_choice<std::optional<bool>>(
      command, "--counterfactuals", request.counterfactuals, {{"auto", std::nullopt}, {"on", true}, {"off", false}},
      "simulate the prediction again with one part after the other as measured (auto: if that takes seconds)");
  command.add_flag("--json", options.json, "write JSON (docs/formats/explain-json.md) instead of tables");
  command.add_output(options.output, "file for the JSON");
  command.add_option("--trace", request.trace, "both runs for Perfetto (Chrome's JSON), rank below rank",
                     writes("FILE"), named_file);
  command.add_option("--picture", request.picture, "causes and both runs as a picture (SVG)", writes("FILE"),
                     named_file);
  add_range(command, "--ranks", request.first_rank, request.last_rank, "ranks in trace and picture (default 0-7)");
  add_range(command, "--panels", request.first_panel, request.last_panel,
            "panels of the real run that the picture shows (default: all)")
      ->with(needs("--picture"));
  add_simulator(command, request.programs);
  add_timeout(command, request.timeout_s, "simulation");
}

}  // namespace hplcast::cli
