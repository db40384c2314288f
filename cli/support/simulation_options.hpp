#pragma once

#include "cli/support/options.hpp"
#include "hplcast/study/resolve.hpp"

namespace hplcast::cli {

/// Adds one option for every HPL parameter (-N, --nb, -P, -Q, --pmap ... --align) that sets `parameters`. Values are
/// HPL's numbers or names (core::hpl_value). Returns the option -N.
/// `of_each`: such as that an option for a file of configurations excludes them all.
Option* add_hpl_options(Command& command, core::HplParameters& parameters, const Setting& of_each);

/// Adds --nb, --bcast ... for a list of values of a parameter, which are its default. `levels` must live until the
/// options are parsed.
Option* add_hpl_levels(Command& command, const std::string& field, std::vector<int>& levels,
                       const std::string& help = "");

/// --for-hpl, the N, NB, P and Q of a run. `help`: what it is for.
Option* add_for_hpl(Command& command, std::vector<long>& values, const std::string& help);
/// HPL's parameters from the four values of --for-hpl.
core::HplParameters grid_of(const std::vector<long>& values);

/// --mode. `note` is put at the end of its help.
void add_simulation_mode(Command& command, study::SimulationMode& mode, const std::string& note = "");

/// --xhpl and --smpirun.
void add_simulator(Command& command, study::SimulatorPrograms& programs);

/// --timeout of a `what` ("simulation", "run").
void add_timeout(Command& command, double& timeout_s, const std::string& what);

/// --windows alone. `panels`: what is simulated, and what `auto` is.
void add_window_rule(Command& command, study::WindowRule& rule, const std::string& panels);
/// --windows, --target-error, --windows-jobs, --only-window.
void add_windows(Command& command, study::PredictionRequest& request);

/// --trace and --trace-ranks.
void add_trace(Command& command, study::Observation& observation);

/// --energy, --power-trace, --bin, --power-hosts.
void add_energy(Command& command, study::Observation& observation);

/// Warnings of all plans, each once.
void tell_warnings(const std::vector<study::RunPlan>& plans);

/// The file of --power-trace: where its name ends in .svg or .png, the CSV goes elsewhere, and is drawn at the end.
class PowerTraceFile {
 public:
  /// Changes where `observation` has it, and turns on its energy. @throws as require_picture()
  explicit PowerTraceFile(study::Observation& observation);
  /// After the simulation, whose name stands above a picture. @throws as write_picture()
  void finish(const std::string& run) const;

 private:
  std::filesystem::path picture_;
  std::filesystem::path csv_;
  std::optional<core::TemporaryFolder> folder_;
};

}  // namespace hplcast::cli
