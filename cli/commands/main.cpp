#include <cstring>

#include "cli/commands/commands.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

void setup_fit(Command& app) {
  Command& fit = add_command(app, "fit", "Fit performance models to measurements", "hplcast fit --help");
  fit.require_subcommand(1);
  setup_fit_cluster(fit);
  setup_fit_detours(fit);
  setup_fit_kernel(fit);
  setup_fit_generative(fit);
  setup_fit_network(fit);
  setup_fit_power(fit);
  setup_fit_program(fit);
  setup_fit_segmented(fit);
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

  cli::setup_quick(app);
  cli::setup_design(app);
  cli::setup_doctor(app);
  cli::setup_calibrate(app);
  cli::setup_import(app);
  cli::setup_fit(app);
  cli::setup_assemble(app);
  cli::setup_check_cluster(app);
  cli::setup_emit(app);
  cli::setup_generate(app);
  cli::setup_transform(app);
  cli::setup_predict(app);
  cli::setup_sweep(app);
  cli::setup_tune(app);
  cli::setup_run_real(app);
  cli::setup_compare(app);
  cli::setup_explain(app);
  cli::setup_report(app);
  cli::setup_history(app);
  cli::setup_check(app);
  cli::setup_observe(app);
  cli::setup_run(app);
  cli::setup_completion(app);

  return cli::run_program(app, argc, argv);
}
