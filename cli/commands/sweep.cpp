#include "hplcast/study/sweep.hpp"

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

namespace {

/// More runs than this are asked about: they were probably not meant.
constexpr double many_runs = 10000;

struct SweepOptions {
  std::string plan;
  std::vector<std::uint64_t> seeds;
  bool yes = false;
  bool dry_run = false;
  study::SweepRequest request;
  std::string input;  ///< of status, export, cancel, worker
  std::string output;
  int chunk = 0;
  bool json = false;  ///< of status
};

/// The database of a plan, unless it is one itself.
fs::path database_of(const fs::path& path) {
  if (path.extension() != ".yaml" && path.extension() != ".yml") return path;
  return fs::path(path).replace_extension(".db");
}

void read_plan(SweepOptions& options) {
  core::read_file(options.plan, [&](std::istream& in, const std::string& name) {
    options.request.plan_text = core::read_text(in, name, "is this a plan of a sweep?", core::most_bytes_of_plan);
    options.request.plan =
        study::read_plan(core::TextStream(options.request.plan_text), name, fs::absolute(options.plan).parent_path());
  });
  if (options.request.plan.name.empty()) options.request.plan.name = fs::path(options.plan).stem().string();
  if (!options.seeds.empty()) options.request.plan.seeds = options.seeds;
  if (options.request.database.empty()) {
    if (core::is_standard_stream(options.plan))
      throw core::UsageError("a plan from the standard input needs --database");
    options.request.database = database_of(options.plan);
  }
  require_other_file(options.request.database, {options.plan});
  const double count = study::run_count(options.request.plan);
  if (count > many_runs && !options.yes)
    throw core::UsageError(options.plan + " asks for " + core::printed("%.9g", count) +
                           " runs; give --yes to run them all");
}

void tell_skipped(const std::vector<study::SkippedPoint>& skipped) {
  constexpr std::size_t shown = 5;
  for (std::size_t i = 0; i < std::min(shown, skipped.size()); ++i)
    std::cerr << "  skipped: " << study::to_string(skipped[i].factors) << ": " << skipped[i].reason << '\n';
  if (skipped.size() > shown) std::cerr << "  ... and " << skipped.size() - shown << " more\n";
}

/// A line for each of the first failed runs.
std::string failures_text(const std::vector<study::FailedRun>& failures) {
  constexpr std::size_t shown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, failures.size()); ++i) {
    const std::string& message = failures[i].message;
    text += "\n  " + failures[i].run.substr(0, 16) + ": " + message.substr(0, message.find('\n'));
  }
  if (failures.size() > shown) text += "\n  ... and " + std::to_string(failures.size() - shown) + " more";
  return text;
}

/// About the models and the runs: what changes of one cluster or sizes have in common is said once.
void warn_about(const study::SweepRuns& runs) {
  std::vector<std::string> lines = runs.warnings;
  for (const auto& entry : runs.clusters) core::append(lines, quality_warnings(entry.second));
  warn_once_each(lines);
}

void require_any(const study::SweepRuns& runs) {
  if (runs.runs.empty() && !runs.skipped.empty()) throw InputError("no configuration of the plan can be run");
}

void run_dry(const study::SimulatorPrograms& programs, const study::SweepRuns& runs) {
  if (!programs.xhpl.empty() || !programs.smpirun.empty()) study::check_programs(programs);
  std::cout << runs.runs.size() << " runs of " << runs.points.size() << " configurations and seeds, "
            << runs.clusters.size() << " clusters, " << runs.skipped.size() << " configurations skipped\n";
  tell_skipped(runs.skipped);
  require_any(runs);
}

/// Kernels without a model that runs of the plan called.
void tell_free_kernels(const study::SweepDatabase& database,
                       const std::map<std::string, core::ClusterModel>& clusters) {
  std::map<std::string, std::vector<core::Prediction>> predictions;  // by model
  for (study::SweepResult& result : database.results())
    predictions[result.prediction.model_sha256].push_back(std::move(result.prediction));
  std::set<std::string> lines;
  for (const auto& [sha256, list] : predictions) {
    const auto cluster = clusters.find(sha256);
    if (cluster == clusters.end()) continue;  // of another plan
    for (const std::string& line : study::free_kernel_lines(list, cluster->second))
      lines.insert(cluster->second.name + ": " + line);
  }
  for (const std::string& line : lines) tell(line);
}

void run_sweep(SweepOptions options) {
  read_plan(options);
  const study::SweepRuns runs = study::runs_of(options.request.plan);
  warn_about(runs);
  if (options.dry_run) return run_dry(options.request.programs, runs);
  core::catch_interrupts();
  Progress progress;
  options.request.progress = [&](const study::SweepProgress& state) {
    progress.update(state.fraction, std::to_string(state.ended) + " of " + std::to_string(state.all) +
                                        (state.failed > 0 ? ", " + std::to_string(state.failed) + " failed" : ""));
  };
  const study::SweepSummary summary = study::run_sweep(options.request, runs);
  progress.clear();
  const study::SweepDatabase database(options.request.database, study::SweepDatabase::Access::read);
  const std::size_t failed = summary.failed + summary.found_failed;
  const std::string summary_text =
      core::printed("%zu runs made, %zu there already, %zu failed, %zu configurations skipped", summary.made,
                    summary.found, failed, summary.skipped);
  if (failed > 0)
    throw core::Error(core::ExitCode::external_failure,
                      std::to_string(failed) + " of " + std::to_string(database.counts().runs) +
                          " runs failed; the others are in " + options.request.database.string() +
                          failures_text(database.failures()) + "\n  " + summary_text +
                          "\n  hint: --retry-failed tries them again");
  tell(summary_text + "; " + options.request.database.string());
  tell_skipped(runs.skipped);
  require_any(runs);
  tell_free_kernels(database, runs.clusters);
}

void run_status(const SweepOptions& options) {
  const fs::path path = database_of(options.input);
  const study::SweepDatabase database(path, study::SweepDatabase::Access::read);
  const study::SweepCounts counts = database.counts();
  const auto missing = counts.runs - std::min(counts.runs, counts.done + counts.failed);
  const std::vector<std::string> slurm_jobs = study::slurm_jobs_of(path);
  if (options.json) {
    nlohmann::ordered_json json = {{"asked_for", counts.runs},
                                   {"done", counts.done},
                                   {"failed", counts.failed},
                                   {"missing", missing},
                                   {"skipped", counts.skipped},
                                   {"slurm_jobs", slurm_jobs},
                                   {"failures", nlohmann::ordered_json::array()}};
    for (const study::FailedRun& one : database.failures())
      json["failures"].push_back(HPLCAST_JSON(one, run, message, log));
    return write_result("", json);
  }
  std::cout << counts.runs << " runs asked for, " << counts.done << " done, " << counts.failed << " failed, " << missing
            << " missing; " << counts.skipped << " configurations skipped\n";
  for (const std::string& line : slurm_jobs) std::cout << "slurm: " << line << '\n';
  if (counts.failed > 0) std::cerr << "failed:" << failures_text(database.failures()) << '\n';
  tell_skipped(database.skipped());
}

void run_export(const SweepOptions& options) {
  require_other_file(options.output, {options.input, database_of(options.input)});
  const study::SweepDatabase database(database_of(options.input), study::SweepDatabase::Access::read);
  const auto results = database.results();
  write_result(options.output, [&](std::ostream& out) { study::write_sweep_csv(out, results); });
}

void run_cancel(const SweepOptions& options) {
  const fs::path database = database_of(options.input);
  study::SweepDatabase(database, study::SweepDatabase::Access::read);  // must be one
  study::cancel_slurm_jobs_of(database);
}

void add_parts(Command& command, const std::shared_ptr<SweepOptions>& options) {
  Command& status = add_command(command, "status", "Show the progress of a sweep", "hplcast sweep status study.db");
  Command& export_csv =
      add_command(command, "export", "The results of a sweep as CSV", "hplcast sweep export study.db -o study.csv");
  Command& cancel = add_command(command, "cancel", "Cancel the Slurm jobs of a sweep that was killed",
                                "hplcast sweep cancel study.db");
  for (Command* part : {&status, &export_csv, &cancel})
    part->add_option("database", options->input, "the database, or its plan", required, of_type("DATABASE"));
  export_csv.add_output(options->output, "file (default: the standard output)");
  status.add_flag("--json", options->json, "write JSON (docs/use/sweep.md)");
  status.callback([options] { run_status(*options); });
  export_csv.callback([options] { run_export(*options); });
  cancel.callback([options] { run_cancel(*options); });
  command.begin_group("");  // not in the help
  Command& worker = add_command(command, "worker", "What a Slurm task of a sweep runs",
                                "hplcast sweep worker study.db.slurm --chunk 0");
  worker.add_option("folder", options->input, "folder that the sweep made", required, of_type("DIR"));
  worker.add_option("--chunk", options->chunk, "number of the chunk", required);
  worker.callback([options] {
    core::catch_interrupts();
    study::run_sweep_chunk(options->input, options->chunk);
  });
}

}  // namespace

void setup_sweep(Command& app) {
  auto options = std::make_shared<SweepOptions>();
  Command& command = add_command(app, "sweep", "Predict all configurations of a plan",
                                 "hplcast sweep examples/sweep/plan.yaml --database study.db --jobs 2");
  Option* plan =
      command.add_option("plan", options->plan, "plan.yaml (docs/formats/plan-yaml.md)", of_type("PLAN.yaml"));
  command.add_option("--database", options->request.database, "results (default: beside the plan, .db)",
                     of_type("FILE"), named_file);
  command.add_option("--jobs", options->request.jobs, "predictions at a time (default: the cores of this machine)",
                     positive);
  add_seeds(command, options->seeds, "other seeds than those of the plan: 4,5,6");
  add_choice<bool>(command, "--executor", options->request.slurm, {{"local", false}, {"slurm", true}},
                   "local, or slurm: job arrays");
  command.add_option("--chunk", options->request.slurm_options.chunk,
                     "runs in one task of an array (default: by --jobs)", positive, needs("--executor"));
  command.add_option("--sbatch", options->request.slurm_options.sbatch, "an option for sbatch: --sbatch=--partition=x",
                     one_each, needs("--executor"));
  command.add_option("--poll", options->request.slurm_options.poll_s, "time between two looks at the queue", as_seconds,
                     positive, default_text("5s"), needs("--executor"));
  add_simulator(command, options->request.programs);
  command.add_flag("--retry-failed", options->request.retry_failed, "repeat runs that failed");
  command.add_flag("--dry-run", options->dry_run, "only count the runs and show what would be skipped");
  command.add_flag("--yes", options->yes, "also for more than 10000 runs");
  add_parts(command, options);
  command.require_subcommand(0, 1);
  command.callback([options, plan, &command] {
    if (command.has_parsed_subcommand()) return;
    if (plan->empty()) throw core::UsageError("give a plan, or one of status, export, cancel");
    run_sweep(*options);
  });
}

}  // namespace hplcast::cli
