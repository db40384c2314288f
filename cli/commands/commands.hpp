#pragma once

#include <CLI/CLI.hpp>

/// The subcommands of `hplcast`. Each has a file of its own with a struct of options, a setup function that adds the
/// command with its options to `app`, and a run function that the command's callback calls. A command ends by throwing
/// one of core::Error (main turns it into a message and an exit code), or by returning.
namespace hplcast::cli {

void setup_assemble(CLI::App& app);
void setup_calibrate(CLI::App& app);
void setup_check(CLI::App& app);
void setup_check_cluster(CLI::App& app);
void setup_compare(CLI::App& app);
void setup_completion(CLI::App& app);  ///< the group `completion`; it describes the commands of `app`
void setup_design(CLI::App& app);      ///< the group `design`
void setup_doctor(CLI::App& app);
void setup_emit(CLI::App& app);
void setup_explain(CLI::App& app);
void setup_fit(CLI::App& app);  ///< the group `fit`; its subcommands are below
void setup_fit_cluster(CLI::App& fit);
void setup_fit_detours(CLI::App& fit);
void setup_fit_generative(CLI::App& fit);
void setup_fit_kernel(CLI::App& fit);
void setup_generate(CLI::App& app);
void setup_history(CLI::App& app);  ///< the group `history`
void setup_fit_network(CLI::App& fit);
void setup_fit_power(CLI::App& fit);
void setup_fit_program(CLI::App& fit);
void setup_fit_segmented(CLI::App& fit);
void setup_observe(CLI::App& app);
void setup_predict(CLI::App& app);
void setup_import(CLI::App& app);
void setup_quick(CLI::App& app);
void setup_report(CLI::App& app);
void setup_run(CLI::App& app);
void setup_run_real(CLI::App& app);
void setup_sweep(CLI::App& app);
void setup_transform(CLI::App& app);
void setup_tune(CLI::App& app);

}  // namespace hplcast::cli
