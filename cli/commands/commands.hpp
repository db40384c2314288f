#pragma once

#include "cli/support/command.hpp"

/// The subcommands of `hplcast`. Each has a file of its own with a struct of options, a setup function that adds the
/// command with its options to `app`, and a run function that the command's callback calls. A command ends by throwing
/// one of core::Error (main turns it into a message and an exit code), or by returning.
namespace hplcast::cli {

void setup_assemble(Command& app);
void setup_calibrate(Command& app);
void setup_check(Command& app);
void setup_check_cluster(Command& app);
void setup_compare(Command& app);
void setup_completion(Command& app);  ///< the group `completion`; it describes the commands of `app`
void setup_design(Command& app);      ///< the group `design`
void setup_doctor(Command& app);
void setup_emit(Command& app);
void setup_explain(Command& app);
void setup_export(Command& app);  ///< the group `export`
void setup_fit(Command& app);  ///< the group `fit`; its subcommands are below
void setup_fit_accelerator(Command& fit);
void setup_fit_cluster(Command& fit);
void setup_fit_detours(Command& fit);
void setup_fit_generative(Command& fit);
void setup_fit_imported(Command& fit);
void setup_fit_kernel(Command& fit);
void setup_follow(Command& app);
void setup_generate(Command& app);
void setup_history(Command& app);  ///< the group `history`
void setup_fit_network(Command& fit);
void setup_fit_power(Command& fit);
void setup_fit_program(Command& fit);
void setup_fit_segmented(Command& fit);
void setup_fit_topology(Command& fit);
void setup_observe(Command& app);
void setup_offer(Command& app);
void setup_predict(Command& app);
void setup_import(Command& app);
void setup_quick(Command& app);
void setup_report(Command& app);
void setup_run(Command& app);
void setup_run_real(Command& app);
void setup_sweep(Command& app);
void setup_transform(Command& app);
void setup_tune(Command& app);

}  // namespace hplcast::cli
