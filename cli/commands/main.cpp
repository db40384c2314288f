#include <cstring>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

void setup_fit(Command& app) {
  Command& fit = add_command(app, "fit", "Fit performance models to measurements", "hplcast fit --help");
  fit.require_subcommand(1);
  for (const auto setup :
       {setup_fit_cluster, setup_fit_detours, setup_fit_kernel, setup_fit_generative, setup_fit_imported,
        setup_fit_network, setup_fit_power, setup_fit_program, setup_fit_segmented})
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
  cli::set_example(app, "hplcast predict --help");

  for (const auto setup :
       {cli::setup_quick,     cli::setup_design,   cli::setup_doctor,        cli::setup_calibrate, cli::setup_import,
        cli::setup_fit,       cli::setup_assemble, cli::setup_check_cluster, cli::setup_emit,      cli::setup_generate,
        cli::setup_transform, cli::setup_predict,  cli::setup_sweep,         cli::setup_tune,      cli::setup_run_real,
        cli::setup_follow,    cli::setup_compare,  cli::setup_explain,       cli::setup_report,    cli::setup_history,
        cli::setup_check,     cli::setup_observe,  cli::setup_run,           cli::setup_completion})
    setup(app);
  return cli::run_program(app, argc, argv);
}
