#include <cstdlib>
#include <iostream>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/support/options.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "hplcast/study/program_run.hpp"

namespace hplcast::cli {

namespace {

struct ObserveOptions {
  calibration::ObserveRequest request;
  std::vector<std::string> command;
};

void run_observe(ObserveOptions& options) {
  calibration::ObserveRequest& request = options.request;
  require_named_file("-o", request.archive);
  calibration::require_archive_name(request.archive);
  core::catch_interrupts();
  request.program = study::located_program(options.command.front(), "the program to observe, after --");
  study::require_real_program(request.program);
  request.arguments.assign(options.command.begin() + 1, options.command.end());
  request.observer = study::own_library("libhplcast-observe.so", HPLCAST_VARIABLE_OBSERVE_LIBRARY);
  if (request.observer.empty())
    throw bad_input(
        "libhplcast-observe.so is missing; expected in ../lib beside hplcast, or "
        "where " HPLCAST_VARIABLE_OBSERVE_LIBRARY " says");
  const unsigned cores = std::thread::hardware_concurrency();
  const bool here = request.launch.hostfile.empty() && std::getenv("SLURM_JOB_ID") == nullptr;
  if (here && !request.launch.oversubscribe && cores > 0 && static_cast<unsigned>(request.launch.ranks) > cores)
    throw core::UsageError("-np " + std::to_string(request.launch.ranks) + " on " + std::to_string(cores) +
                           " cores; expected at most one rank per core, other hosts (--hostfile), or --oversubscribe");
  const std::string output = calibration::observe_program(request);
  if (!is_quiet()) std::cout << output;
  tell(std::to_string(request.launch.ranks) + (request.launch.ranks == 1 ? " rank" : " ranks") + " observed, in " +
       request.archive.string());
}

}  // namespace

void setup_observe(Command& app) {
  Command& command = add_command(app, "observe", "Run a real program of BLAS and MPI, and note what its time goes into",
                                 "hplcast observe -np 1 -o solver.zip -- ./solver 1000");
  auto& options = command.runs<ObserveOptions>(run_observe);
  calibration::ObserveRequest& request = options.request;
  command.add_option("command", options.command, "the program and its arguments, after --", required,
                     of_type("PROGRAM"));
  command.add_option("--np", request.launch.ranks, "ranks (also -np)", between(1, 1 << 20), with_default);
  command.add_output(request.archive, "archive to write: .zip, .tar.gz or .tar.zst", required);
  command.add_option("--hostfile", request.launch.hostfile, "hosts to run on, for mpirun (default: this machine)",
                     existing_file(), reads("FILE"));
  command.add_option("--mpirun", request.launch.mpirun, "Open MPI's mpirun, or srun", of_type("PATH"));
  command.add_flag("!--no-bind", request.launch.bind, "do not bind the ranks to cores");
  command.add_flag("--oversubscribe", request.launch.oversubscribe, "allow more ranks than cores");
  command.add_option(
      "--reach", request.reach_bytes,
      "memory of each rank to measure longer vectors and larger strides in, when the run is over; 0: do not",
      as_bytes(), of_type("BYTES"), default_text("256MiB"));
  add_timeout(command, request.timeout_s, "run");
}

}  // namespace hplcast::cli
