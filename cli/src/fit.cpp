#include "commands.hpp"
#include "program.hpp"

namespace hplcast::cli {

void setup_fit(CLI::App& app) {
  CLI::App& fit = add_command(app, "fit", "Fit performance models to measurements", "hplcast fit --help");
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
