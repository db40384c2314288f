#include <cstring>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

void setup_fit(Command& app) {
  Command& fit = add_command(app, "fit", "Fit performance models to measurements", "hplcast fit --help");
  fit.require_subcommand(1);
  for (const auto setup : {setup_fit_accelerator, setup_fit_cluster, setup_fit_detours, setup_fit_kernel,
                           setup_fit_generative, setup_fit_imported, setup_fit_network, setup_fit_power,
                           setup_fit_program, setup_fit_segmented, setup_fit_topology})
    setup(fit);
}

}  // namespace hplcast::cli

namespace {

/// `-np`, as mpirun has it: an option of two letters, which CLI11 does not know. Not in what follows `--`.
void spell_out_np(int argc, char** argv) {
  static char long_name[] = "--np";
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i)
    if (std::strcmp(argv[i], "-np") == 0) argv[i] = long_name;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace hplcast;
  spell_out_np(argc, argv);
  core::settle_in();
  core::remove_leftovers_when_we_die();
  cli::Command app(
      "Predicts High-Performance Linpack (HPL) on a cluster by running HPL itself on the SimGrid/SMPI simulator.",
      "hplcast");
  app.set_version_flag("--version", "hplcast " HPLCAST_VERSION);
  app.require_subcommand(1);
  cli::add_talk_options(app);
  cli::set_example(
      app, R"(hplcast quick --nodes 32 --cores 32 --gflops-per-core 30 --bandwidth 100Gb/s --latency 1us --memory 192GiB
      a first answer, from what a data sheet says
  hplcast calibrate examples/campaign-laptop.yaml -o laptop.zip && hplcast fit cluster laptop.zip -o cluster.json
      this machine, measured
  hplcast predict examples/dahu-like.json -N 2000 --nb 128 -P 2 -Q 2
      HPL on a cluster whose models are there; HPL.dat can stand in place of the options
  hplcast COMMAND --help says more.)",
      "Three usual ways to begin");

  const std::pair<const char*, std::vector<void (*)(cli::Command&)>> groups[] = {
      {"Start", {cli::setup_quick, cli::setup_offer, cli::setup_doctor}},
      {"Measure and fit",
       {cli::setup_design, cli::setup_calibrate, cli::setup_import, cli::setup_fit, cli::setup_observe}},
      {"Predict", {cli::setup_predict, cli::setup_sweep, cli::setup_tune, cli::setup_run}},
      {"Check",
       {cli::setup_run_real, cli::setup_follow, cli::setup_compare, cli::setup_explain, cli::setup_report,
        cli::setup_history, cli::setup_check}},
      {"Change", {cli::setup_transform, cli::setup_generate, cli::setup_assemble}},
      {"Files", {cli::setup_check_cluster, cli::setup_emit, cli::setup_export, cli::setup_completion}}};
  for (const auto& [name, setups] : groups) {
    app.begin_group(name);
    for (const auto setup : setups) setup(app);
  }
  return cli::run_program(app, argc, argv);
}
