#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/run_files.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

namespace {

struct EmitOptions {
  std::string cluster;
  std::string platform;
  std::string hostfile;
  std::string model_h;
  int ranks = 0;
  fs::path run;                ///< folder
  std::string configurations;  ///< of the run, if not those of `request`
  study::PredictionRequest request;
};

void tell_losses(const core::ClusterModel& cluster, const std::string& file) {
  for (const std::string& loss : platforms::platform_xml_losses(cluster))
    warn(file + " loses a part of the cluster: " + loss);
}

void tell_model_h_losses(const core::ClusterModel& cluster, const std::string& file) {
  for (const auto& [is_there, what] :
       {std::pair(!cluster.detours.empty(), "detours"), std::pair(!cluster.aliased.empty(), "aliased columns"),
        std::pair(!cluster.empty_call_s.empty(), "calls without work")})
    if (is_there)
      warn(file + " loses a part of the cluster: " + what +
           "; a cluster.json in the settings of the simulation has them");
}

/// @throws core::Error if runs that were emitted before would stay beside the new ones.
void refuse_other_runs(const fs::path& base, const std::vector<fs::path>& folders) {
  const std::vector<fs::path> others = study::other_run_folders(base, folders);
  if (others.empty()) return;
  throw InputError("of an earlier `emit --run`, these would stay beside the new ones: " +
                   core::joined(others, ", ", [](const fs::path& other) { return other.string(); }) +
                   "\n  hint: remove them, or give another folder to --run");
}

/// The folders of --run: one, or for several configurations one below it each, as --keep of predict.
void write_runs(const EmitOptions& options) {
  require_place_of(options.run);
  std::vector<core::HplParameters> configurations = {options.request.parameters};
  if (!options.configurations.empty())
    configurations = read_configuration_file(options.configurations, options.request.parameters);
  std::vector<study::RunPlan> plans;
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    study::PredictionRequest request = options.request;
    request.parameters = configurations[i];
    request.mode = study::SimulationMode::exact;
    const fs::path& folder =
        folders.emplace_back(configurations.size() > 1 ? options.run / std::to_string(i + 1) : options.run);
    plans.push_back(study::resolve(std::move(request)));
    for (const char* file : study::run_folder_files) {
      if (fs::exists(folder)) require_writable(folder / file);
      require_other_file(folder / file, {options.cluster, options.configurations});
    }
  }
  refuse_other_runs(options.run, folders);
  for (std::size_t i = 0; i < plans.size(); ++i) study::write_run_folder(plans[i], folders[i]);
  tell_warnings(plans);
  tell_losses(options.request.cluster, (options.run / "platform.xml").string());
  tell_model_h_losses(options.request.cluster, (options.run / "model.h").string());
}

void run_emit(EmitOptions options) {
  if (options.platform.empty() && options.hostfile.empty() && options.model_h.empty() && options.run.empty())
    throw core::UsageError("nothing to emit: give --run, --platform, --hostfile or --model-h");
  put_cluster_first(options.cluster, options.configurations);
  const core::ClusterModel& cluster = options.request.cluster = read_cluster_file(options.cluster);
  if (!options.platform.empty()) {
    core::write_file(options.platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
    tell_losses(cluster, options.platform);
  }
  if (!options.hostfile.empty()) {
    const int ranks = options.ranks > 0 ? options.ranks : cluster.hosts.total_cores();
    core::write_file(options.hostfile, [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  }
  if (!options.model_h.empty()) {
    core::write_file(options.model_h, [&](std::ostream& out) { platforms::write_model_h(out, cluster); });
    tell_model_h_losses(cluster, options.model_h);
  }
  if (!options.run.empty()) write_runs(options);
}

}  // namespace

void setup_emit(Command& app) {
  auto options = std::make_shared<EmitOptions>();
  Command& command = add_command(app, "emit", "Export a cluster for plain smpirun",
                                 "hplcast emit examples/dahu-like.json --run run -N 1000 -P 2 -Q 2 && run/run.sh\n  "
                                 "hplcast emit examples/dahu-like.json --platform platform.xml --hostfile hostfile "
                                 "--model-h model.h --ranks 64");
  command.add_option("cluster", options->cluster, "cluster.json", required, reads("CLUSTER.json"));
  command.add_option("--platform", options->platform, "SimGrid's platform", writes("platform.xml"));
  command.add_option("--hostfile", options->hostfile, "one line per rank, for smpirun and mpirun", writes("hostfile"));
  command.add_option("--model-h", options->model_h, "kernel models as C99 tables", writes("model.h"));
  command.add_option("--ranks", options->ranks, "lines of the hostfile (default: all cores of the cluster)", positive,
                     needs("--hostfile"));
  Option* run = command.add_option(
      "--run", options->run,
      "folder with all of these, HPL.dat, and run.sh: HPL by plain smpirun; needs -N or an HPL.dat", of_type("DIR"));
  Option* configurations =
      command.add_option("configurations,--hpl-dat,--configurations", options->configurations,
                         "HPL of --run: an HPL.dat, HPL's output, or a CSV with columns N, NB, P ...; several "
                         "configurations: in DIR/1, DIR/2 ...",
                         reads("FILE"), needs(run));
  Option* N = add_hpl_options(command, options->request.parameters,
                              [&](Option& one) { one.with(excludes(configurations), needs(run)); });
  N->with(described("HPL's N, for --run"));
  add_seed(command, options->request.seed, "of the random streams of --run")->with(needs(run));
  command.add_flag("--force", options->request.force, "also runs that `predict` refuses without --force", needs(run));
  command.callback([options, run, N, configurations] {
    if (!run->empty() && N->empty() && configurations->empty()) throw core::UsageError("--run needs -N or an HPL.dat");
    run_emit(*options);
  });
}

}  // namespace hplcast::cli
