#include <iostream>
#include <memory>

#include "checks.hpp"
#include "commands.hpp"
#include "configuration_file.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/study/real_runs.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "seed_option.hpp"

namespace hplcast::cli {

namespace {

struct RunRealOptions {
  std::string configurations;
  std::string check = "on";
  study::RealRunRequest request;
};

/// Sorted out of a list where it stands twice: a repetition is asked for with --repetitions.
std::vector<core::HplParameters> without_repeats(const std::vector<core::HplParameters>& all) {
  std::vector<core::HplParameters> once;
  for (const auto& parameters : all) {
    if (std::find(once.begin(), once.end(), parameters) == once.end()) {
      once.push_back(parameters);
    } else {
      std::cerr << "hplcast run-real: warning: given twice, run once: " << core::to_string(parameters) << '\n';
    }
  }
  return once;
}

void run_run_real(RunRealOptions& options) {
  require_named_file("-o", options.request.results);
  require_writable(options.request.results);
  require_place_of(options.request.outputs);
  require_other_file(options.request.results, {options.configurations});
  core::catch_interrupts();
  options.request.check = options.check == "on";
  options.request.configurations = without_repeats(read_configuration_file("hplcast run-real", options.configurations));
  Progress progress;
  options.request.progress = [&](double done, const std::string& run) { progress.update(done, run); };
  const study::RealRunSummary summary = study::run_real(options.request);
  progress.clear();
  std::cerr << "hplcast run-real: " << summary.made << " runs made";
  if (summary.found > 0)
    std::cerr << ", " << summary.found << " were in " << options.request.results.string() << " already";
  std::cerr << '\n';
  if (summary.failed_residuals > 0) {
    std::cerr << "hplcast run-real: warning: HPL says that " << summary.failed_residuals
              << " results are wrong (column residual); compare leaves them out\n";
  }
}

}  // namespace

void setup_run_real(CLI::App& app) {
  auto options = std::make_shared<RunRealOptions>();
  auto& request = options->request;
  CLI::App& command = add_command(app, "run-real", "Run the real HPL on this machine, for comparison with predictions",
                                  "hplcast run-real examples/laptop-runs.csv --repetitions 3 -o real.csv");
  command.add_option("configurations", options->configurations, "an HPL.dat, or a CSV with columns N, NB, P ...")
      ->required()
      ->type_name("FILE");
  command.add_option("-o,--output", request.results, "CSV that runs are added to; runs that it has are not repeated")
      ->required()
      ->type_name("RUNS.csv");
  command.add_option("--repetitions", request.repetitions, "runs of each configuration")->capture_default_str();
  add_seed(command, request.seed, "of the random order of the runs");
  command.add_option("--outputs", request.outputs, "folder for HPL's output of each run (default: RUNS.csv.d)")
      ->type_name("DIR");
  command.add_option("--hostfile", request.hostfile, "hosts to run on, for mpirun (default: this machine)")
      ->type_name("FILE");
  command.add_option("--check", options->check, "let HPL check its result")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command.add_option("--timeout", request.timeout_s, "stop a run that takes longer (default: never)")
      ->transform(as_time_limit());
  command.add_option("--xhpl", request.xhpl, "the real HPL (default: xhpl next to hplcast, or $HPLCAST_XHPL)")
      ->type_name("PATH");
  command.add_option("--mpirun", request.mpirun, "Open MPI's mpirun")->type_name("PATH");
  command.add_flag("!--no-bind", request.bind, "do not bind the ranks to cores");
  command.add_flag("--oversubscribe", request.oversubscribe, "allow more ranks than cores; marked in the data");
  command.callback([options] { run_run_real(*options); });
}

}  // namespace hplcast::cli
