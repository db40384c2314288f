#include "hplcast/study/explain.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <ostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

using study::Explanation;

std::string whole(double number) {
  return std::to_string(std::llround(number));
}

/// Texts of different length, which the table aligns on the right, begin below each other.
void pad(std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.resize(width, ' ');
}

void write_causes(std::ostream& out, const Explanation& e) {
  out << "\nWhat differs, and its share of the predicted time ("
      << (e.simulated ? "by simulations with one part after the other as measured" : "estimated from sums") << ")\n";
  std::vector<std::string> texts = {"cause"};
  for (const study::Cause& cause : e.causes) texts.push_back(cause.text);
  texts.insert(texts.end(), {"not explained", "real less predicted"});
  pad(texts);
  TextTable table({"share", "seconds", "estimate", texts.front()});
  for (std::size_t i = 0; i < e.causes.size(); ++i) {
    const study::Cause& cause = e.causes[i];
    table.add({signed_percent(cause.share_s() / e.predicted_s), significant(cause.share_s(), 3),
               significant(cause.estimated_s, 3), texts[i + 1]});
  }
  table.add({signed_percent(e.rest_s / e.predicted_s), significant(e.rest_s, 3), "", texts[texts.size() - 2]});
  table.add({signed_percent(e.difference_s() / e.predicted_s), significant(e.difference_s(), 3), "", texts.back()});
  table.write(out);
}

std::string list_of(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, ranks.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > shown) text += " and " + std::to_string(ranks.size() - shown) + " more";
  return text;
}

void write_phases(std::ostream& out, const Explanation& e) {
  if (e.phases.empty()) return;
  out << "\nTime per phase in s, mean over the ranks: real, predicted\n";
  TextTable table({"phase", "time", "", "kernels", "", "messages", "", "waiting", "", "ranks that stand out"});
  for (const study::PhaseDifference& phase : e.phases) {
    const core::PhaseSummary& r = phase.real;
    const core::PhaseSummary& p = phase.predicted;
    table.add({r.name, significant(r.elapsed_s), significant(p.elapsed_s), significant(r.kernels_s),
               significant(p.kernels_s), significant(r.messages_s), significant(p.messages_s), significant(r.waiting_s),
               significant(p.waiting_s), list_of(phase.far_ranks)});
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
  const std::size_t count = std::min(shown, e.kernels.size());
  std::vector<std::string> remarks = {"remark"};
  for (std::size_t i = 0; i < count; ++i) remarks.push_back(remark_of(e.kernels[i]));
  pad(remarks);
  TextTable table({"kernel", "calls", "real [s]", "model [s]", "level", remarks.front()});
  for (std::size_t i = 0; i < count; ++i) {
    const study::KernelDifference& one = e.kernels[i];
    table.add({one.kernel, whole(one.calls), significant(one.real_s), significant(one.model_s),
               one.has_model ? signed_percent(one.level - 1) : "", remarks[i + 1]});
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
               whole(one.messages), significant(one.usual_real_s * us_per_s, 3),
               significant(one.usual_model_s * us_per_s, 3), signed_percent(one.usual_real_s / one.usual_model_s - 1),
               significant(one.real_s * us_per_s, 3), significant(one.model_s * us_per_s, 3)});
  table.write(out);
}

/// For people: verdict, causes, phases, kernels, messages.
void write_explanation_table(std::ostream& out, const Explanation& explanation) {
  for (const std::string& line : study::verdict(explanation)) out << line << '\n';
  write_causes(out, explanation);
  write_phases(out, explanation);
  write_kernels(out, explanation);
  write_messages(out, explanation);
}

enum class Counterfactuals { automatic, on, off };

struct ExplainOptions {
  std::string real, prediction, cluster, output;
  Counterfactuals counterfactuals = Counterfactuals::automatic;
  bool json = false;
  study::ExplainRequest request;
};

void check_outputs(const ExplainOptions& options) {
  const study::ExplainRequest& request = options.request;
  const std::vector<std::string> inputs = {options.real, options.prediction, options.cluster};
  for (const std::filesystem::path& path : {std::filesystem::path(options.output), request.trace, request.picture}) {
    require_writable(path);
    require_other_file(path, inputs);
  }
  require_named_file("--trace", request.trace);
  require_named_file("--picture", request.picture);
}

void run_explain(ExplainOptions& options) {
  unify_json_output(options.json, options.output);
  check_outputs(options);
  core::catch_interrupts();
  study::ExplainRequest& request = options.request;
  request.runs = study::observed_runs(options.real);
  request.prediction = study::prediction_of_runs(options.prediction, request.runs);
  const core::HplParameters& p = request.prediction.parameters;
  require_begins_below("--ranks", request.first_rank, p.P * p.Q, core::to_string(p), "ranks");
  require_begins_below("--panels", request.first_panel, (p.N + p.NB - 1) / p.NB, core::to_string(p), "panels");
  request.cluster =
      study::at_levels(read_cluster_file(options.cluster), study::levels_of(request.prediction.model_levels));
  if (options.counterfactuals != Counterfactuals::automatic)
    request.counterfactuals = options.counterfactuals == Counterfactuals::on;
  Progress progress;
  request.progress = [&](double done, const std::string& what) { progress.update(done, what); };
  const study::Explanation explanation = study::explain(request);
  progress.clear();
  for (const std::string& warning : explanation.warnings) std::cerr << "hplcast explain: warning: " << warning << '\n';
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
      of_type("REAL"));
  command.add_option("prediction", options.prediction, "of the same configuration: JSON of `hplcast predict --phases`",
                     required, of_type("PREDICTION"));
  command.add_option("--cluster", options.cluster, "the cluster.json that it was predicted with", required,
                     of_type("CLUSTER.json"));
  add_choice<Counterfactuals>(
      command, "--counterfactuals", options.counterfactuals,
      {{"auto", Counterfactuals::automatic}, {"on", Counterfactuals::on}, {"off", Counterfactuals::off}},
      "simulate the prediction again with one part after the other as measured (auto: if that takes seconds)");
  command.add_flag("--json", options.json, "write JSON (docs/formats/explain-json.md) instead of tables");
  command.add_option("-o,--output", options.output, "file for the JSON", of_type("FILE"));
  command.add_option("--trace", request.trace, "both runs for Perfetto (Chrome's JSON), rank below rank",
                     of_type("FILE"));
  command.add_option("--picture", request.picture, "both runs as a picture (SVG)", of_type("FILE"));
  add_range(command, "--ranks", request.first_rank, request.last_rank, "ranks in trace and picture (default 0-7)");
  add_range(command, "--panels", request.first_panel, request.last_panel,
            "panels of the real run that the picture shows (default: all)")
      ->with(needs("--picture"));
  command.add_option("--xhpl", request.programs.xhpl,
                     "the simulated HPL (default: xhpl-smpi next to hplcast, or $HPLCAST_XHPL_SMPI)", of_type("PATH"));
  command.add_option("--smpirun", request.programs.smpirun,
                     "SimGrid's smpirun (default: that of the SimGrid that hplcast was built with)", of_type("PATH"));
  command.add_option("--timeout", request.timeout_s, "stop a simulation that takes longer (default: never)",
                     as_time_limit());
}

}  // namespace hplcast::cli
