#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/prediction_results.hpp"
#include "cli/support/progress.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/sensors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "hplcast/study/real_runs.hpp"

namespace hplcast::cli {

namespace {

/// The sensors of this host as a recorder of real runs.
class SensorRecorder : public study::PowerRecorder {
 public:
  /// @throws core::Error (bad_input) if none tells the power of the host; it says what was looked for.
  SensorRecorder(const std::filesystem::path& root, std::vector<calibration::MeterKind> kinds, double period_s)
      : root_(root), kinds_(std::move(kinds)), period_s_(period_s) {
    calibration::require_host_power(calibration::find_power_meters(kinds_, root_), core::host_name());
  }

  void begin() override { monitor_.emplace(calibration::Sensors::discover(root_, kinds_), period_s_); }
  std::vector<core::PowerSample> end() override {
    const std::vector<calibration::Reading> readings = monitor_->stop();
    const double offset_s = calibration::unix_minus_now_s();
    std::vector<core::PowerSample> samples;
    for (const auto& meter : monitor_->sensors().power().meters) {
      for (core::PowerSample& sample : calibration::power_samples(meter, readings, offset_s)) {
        sample.host = core::host_name();
        samples.push_back(std::move(sample));
      }
      for (const std::string& trouble : meter.troubles()) troubles_.push_back(meter.name() + ": " + trouble);
    }
    monitor_.reset();
    return samples;
  }
  /// Troubles with sensors since the last call, for people.
  std::vector<std::string> take_troubles() { return std::exchange(troubles_, {}); }

 private:
  std::filesystem::path root_;
  std::vector<calibration::MeterKind> kinds_;
  double period_s_;
  std::optional<calibration::Monitor> monitor_;
  std::vector<std::string> troubles_;
};

struct RunRealOptions {
  std::string configurations;
  bool power = false;
  double power_period_s = 0.5;
  std::string power_root = "/";
  std::vector<calibration::MeterKind> sensors = calibration::all_meters;
  bool control = true;
  study::RealRunRequest request;
};

/// @throws core::UsageError for chosen ranks that no configuration has: the trace would be empty.
void check_ranges(const study::RealRunRequest& request) {
  for (const core::HplParameters& p : request.configurations) {
    require_begins_below("--trace-ranks", request.observation.ranks.first, p.P * p.Q, core::to_string(p), "ranks");
    require_begins_below("--trace-panels", request.observation.panels.first, (p.N + p.NB - 1) / p.NB,
                         core::to_string(p), "panels");
  }
}

void tell_activity(const study::RealActivity& activity, bool phases) {
  const std::string run = core::to_string(activity.run.parameters);
  for (const std::string& warning : activity.warnings) warn(run + ": " + warning);
  if (!phases) return;
  write_phases(std::cout, run, activity.phases);
  if (is_quiet()) return;
  std::cout << "Keeping this took about " << percent(activity.overhead) << " of the run";
  constexpr double nearly_all = 0.99;
  if (activity.known_waiting < nearly_all)
    std::cout << "; waiting was measured in " << percent(activity.known_waiting) << " of the time in MPI calls";
  std::cout << ".\n";
}

/// Prints the energy of a run, and doubts about it.
void tell_energy(const core::HplRun& run, const study::RunEnergy& energy, const std::vector<std::string>& troubles) {
  const std::string which = core::to_string(run.parameters);
  for (const std::string& trouble : troubles) warn(which + ": " + trouble);
  if (!energy.doubt.empty()) warn(which + (energy.energy_j > 0 ? ": energy: " : ": no energy: ") + energy.doubt);
  if (is_quiet() || !(energy.energy_j > 0)) return;
  std::cerr << which << ": " << significant(energy.energy_j) << " J, " << significant(*run.mean_power_w) << " W, "
            << significant(run.gflops / *run.mean_power_w) << " Gflop/s per W ("
            << core::comma_separated(energy.sensors) << ")\n";
}

/// @throws core::UsageError for options that go with --power, core::Error (bad_input) if nothing can be read.
std::unique_ptr<SensorRecorder> recorder_of(const RunRealOptions& options) {
  if (!options.power) return nullptr;
  if (!options.request.launch.hostfile.empty())
    throw core::UsageError(
        "--power reads the sensors of this host only; runs on the hosts of --hostfile need a meter of theirs");
  if (!(options.power_period_s >= 0.01)) throw core::UsageError("--power-period: expected at least 10 ms");
  return std::make_unique<SensorRecorder>(options.power_root, options.sensors, options.power_period_s);
}

void run_run_real(RunRealOptions& options) {
  require_place_of(options.request.outputs);
  core::catch_interrupts();
  core::MpiLaunch& launch = options.request.launch;
  if (!launch.blas.empty()) launch.blas = core::blas_of_library(launch.blas).file;
  options.request.configurations = read_configuration_file(options.configurations);
  for (const core::HplParameters& one : core::take_repeated(options.request.configurations))
    warn("given twice, run once: " + core::to_string(one));
  study::RealObservation& observation = options.request.observation;
  require_place_of(observation.traces);
  if (!observation.traces.empty()) check_ranges(options.request);
  const std::unique_ptr<SensorRecorder> recorder = recorder_of(options);
  options.request.power = recorder.get();
  if (options.control)
    options.request.control =
        study::located_program(core::own_executable().parent_path() / "hplcast-measure-dgemm",
                               "it is beside hplcast, and measures the control; --control off goes without");
  Progress progress;
  options.request.measured = [&](const core::HplRun& run, const study::RunEnergy& energy) {
    progress.clear();
    tell_energy(run, energy, recorder->take_troubles());
  };
  options.request.observed = [&](const study::RealActivity& activity) {
    progress.clear();
    tell_activity(activity, observation.phases);
  };
  options.request.progress = [&](double done, const std::string& run) { progress.update(done, run); };
  const study::RealRunSummary summary = study::run_real(options.request);
  progress.clear();
  std::string made = std::to_string(summary.made) + " runs made";
  if (summary.found > 0)
    made += ", " + std::to_string(summary.found) + " were in " + options.request.results.string() + " already";
  tell(made);
  if (summary.found > 0 && !observation.traces.empty())
    warn("runs that were there already get no trace: another -o repeats them");
  if (options.control && !summary.has_control)
    warn(launch.oversubscribe ? "ranks share cores: no control was measured"
                              : options.request.results.string() +
                                    " has no columns of a control: none was measured; another -o has them");
  if (summary.failed_residuals > 0)
    warn("HPL says that " + std::to_string(summary.failed_residuals) +
         " results are wrong (column residual); compare leaves them out");
}

void add_observation(Command& command, study::RealObservation& observation) {
  const Setting group = in_group("Observation");
  command.add_flag("--phases", observation.phases, "print the time per phase of HPL, as predict --phases does", group);
  command.add_option("--trace", observation.traces,
                     "a trace of every run, for Perfetto (Chrome's JSON), in this folder", of_type("DIR"), group);
  add_range(command, "--trace-ranks", observation.ranks.first, observation.ranks.last,
            "only these ranks in the traces: 0-31")
      ->with(needs("--trace"), group);
  add_range(command, "--trace-panels", observation.panels.first, observation.panels.last,
            "only these panels in the traces, counted from 0: 0-9")
      ->with(needs("--trace"), group);
}

void add_power(Command& command, RunRealOptions& options) {
  const Setting group = in_group("Power");
  Option* const power = command.add_flag("--power", options.power,
                                         "record the sensors of this host while HPL computes: energy, watts", group);
  command.add_option("--power-period", options.power_period_s, "between two readings of the sensors", as_seconds,
                     with_default, needs(power), group);
  add_choices(command, "--sensors", options.sensors, calibration::meter_kinds_by_name, "kinds of sensors to read")
      ->with(needs(power), group);
  command.add_option("--power-root", options.power_root, "folder in which sys and dev of the sensors are looked for",
                     of_type("DIR"), existing_folder, with_default, needs(power), group);
}

}  // namespace

void setup_run_real(Command& app) {
  Command& command = add_command(app, "run-real", "Run the real HPL on this machine, for comparison with predictions",
                                 "hplcast run-real examples/laptop-runs.csv --repetitions 3 -o real.csv");
  auto& options = command.runs<RunRealOptions>(run_run_real);
  auto& request = options.request;
  core::MpiLaunch& launch = request.launch;
  command.add_option("configurations", options.configurations,
                     "an HPL.dat, HPL's output, or a CSV with columns N, NB, P ...", required, reads("FILE"));
  command.add_option("-o,--output", request.results, "CSV that runs are added to; runs that it has are not repeated",
                     required, writes("RUNS.csv"), named_file);
  command.add_option("--repetitions", request.repetitions, "runs of each configuration", between(1, 100000),
                     with_default);
  add_seed(command, request.seed, "of the random order of the runs");
  command.add_option("--outputs", request.outputs, "folder for HPL's output of each run (default: RUNS.csv.d)",
                     of_type("DIR"));
  command.add_option("--hostfile", launch.hostfile, "hosts to run on, for mpirun (default: this machine)",
                     reads("FILE"));
  add_choice<bool>(command, "--check", request.check, on_or_off, "let HPL check its result");
  add_choice<bool>(command, "--control", options.control, on_or_off,
                   "the control measurement before and after each run, and the time in kernels, for compare");
  add_timeout(command, request.timeout_s, "run");
  command.add_option(
      "--xhpl", request.xhpl,
      "the real HPL (default: $HPLCAST_XHPL, else xhpl-instrumented next to hplcast, which times kernels; "
      "with --control off xhpl; with --phases or --trace $HPLCAST_XHPL_INSTRUMENTED or that)",
      of_type("PATH"));
  command.add_option("--mpirun", launch.mpirun, "Open MPI's mpirun", of_type("PATH"));
  command.add_flag("!--no-bind", launch.bind, "do not bind the ranks to cores");
  command.add_option("--threads", launch.threads,
                     "of the BLAS of each rank, each on a core of its own; those that the kernels were measured with",
                     between(1, 4096), with_default);
  command.add_option("--blas", launch.blas, "shared library for HPL in place of the one it is linked with (LD_PRELOAD)",
                     of_type("FILE"));
  command.add_flag("--oversubscribe", launch.oversubscribe, "allow more ranks than cores; marked in the data");
  add_observation(command, request.observation);
  add_power(command, options);
}

}  // namespace hplcast::cli
