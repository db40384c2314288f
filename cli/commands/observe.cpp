#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/support/simulation_options.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "hplcast/study/program_run.hpp"
#include "hplcast/study/real_runs.hpp"

namespace hplcast::cli {

namespace {

struct ObserveOptions {
  calibration::ObserveRequest request;
  std::vector<std::string> command;
  bool control = true;
};

/// The rank whose dgemm took longest.
const core::ControlRow& slowest(const core::ControlRows& rows) {
  const auto faster = [](const core::ControlRow& a, const core::ControlRow& b) { return a.wall_s < b.wall_s; };
  return *std::max_element(rows.begin(), rows.end(), faster);
}

/// Whether the machine was the program's own, and the same all the time.
void judge(const core::ControlRow& before, const core::ControlRow& after) {
  constexpr double much = 1.1;
  for (const core::ControlRow* control : {&before, &after})
    if (control->wall_s > much * control->cpu_s)
      return warn("other programs take the CPU: the control measurement took " +
                  core::printed("%.2f", control->wall_s / control->cpu_s) +
                  " times its CPU time, and what was observed is too slow; observe again when the machine is idle");
  const double ratio = after.wall_s / before.wall_s;
  if (std::max(ratio, 1 / ratio) > much)
    warn("the machine has changed: the control measurement took " + core::printed("%.2f", ratio) +
         " times as long after the run as before; observe again");
}

/// Records and controls in the archive.
void add_control(calibration::ObserveRequest& request, core::ControlRow& before, core::ControlRow& after) {
  const std::filesystem::path program =
      study::located_program(core::own_executable().parent_path() / "hplcast-measure-dgemm",
                             "it is beside hplcast, and measures the control; --control off goes without");
  request.before = [&, program](const std::filesystem::path& folder) {
    study::record_hosts(request.launch, program, folder / "surroundings");
    before = slowest(study::measured_control(request.launch, program, folder / "control-before.csv"));
  };
  request.after = [&, program](const std::filesystem::path& folder) {
    after = slowest(study::measured_control(request.launch, program, folder / "control-after.csv"));
  };
}

void run_observe(ObserveOptions& options) {
  calibration::ObserveRequest& request = options.request;
  calibration::require_archive_name(request.archive);
  core::catch_interrupts();
  request.program = study::located_program(options.command.front(), "the program to observe, after --");
  study::require_real_program(request.program);
  request.arguments.assign(options.command.begin() + 1, options.command.end());
  request.observer = study::own_library("libhplcast-observe.so", HPLCAST_VARIABLE_OBSERVE_LIBRARY);
  if (request.observer.empty())
    throw InputError(
        "libhplcast-observe.so is missing; expected in ../lib beside hplcast, or "
        "where " HPLCAST_VARIABLE_OBSERVE_LIBRARY " says");
  const unsigned cores = std::thread::hardware_concurrency();
  const bool here = request.launch.hostfile.empty() && std::getenv("SLURM_JOB_ID") == nullptr;
  if (here && !request.launch.oversubscribe && cores > 0 && static_cast<unsigned>(request.launch.ranks) > cores)
    throw core::UsageError("-np " + std::to_string(request.launch.ranks) + " on " + std::to_string(cores) +
                           " cores; expected at most one rank per core, other hosts (--hostfile), or --oversubscribe");
  const bool control = options.control && !request.launch.oversubscribe;
  core::ControlRow before, after;
  if (control) add_control(request, before, after);
  const std::string output = calibration::observe_program(request);
  if (control) judge(before, after);
  if (!is_quiet()) std::cout << output;
  tell(core::counted(request.launch.ranks, "rank") + " observed, in " + request.archive.string());
}

}  // namespace

void setup_observe(Command& app) {
  Command& command = add_command(app, "observe", "Run a real program of BLAS and MPI, and note what its time goes into",
                                 "hplcast observe -np 1 -o solver.zip -- ./solver 1000");
  auto& options = command.runs<ObserveOptions>(run_observe);
  calibration::ObserveRequest& request = options.request;
  command.add_option("command", options.command, "the program and its arguments, after --", required, of_type("WORDS"));
  command.add_option("--np", request.launch.ranks, "ranks (also -np)", between(1, 1 << 20), with_default);
  command.add_output(request.archive, "archive to write: .zip, .tar.gz or .tar.zst", required, named_file);
  command.add_option("--hostfile", request.launch.hostfile, "hosts to run on, for mpirun (default: this machine)",
                     existing_file, reads("FILE"));
  command.add_option("--mpirun", request.launch.mpirun, "Open MPI's mpirun, or srun", of_type("PATH"));
  command.add_flag("!--no-bind", request.launch.bind, "do not bind the ranks to cores");
  command.add_flag("--oversubscribe", request.launch.oversubscribe, "allow more ranks than cores");
  command.add_option(
      "--reach", request.reach_bytes,
      "memory of each rank to measure longer vectors and larger strides in, when the run is over; 0: do not", as_bytes,
      of_type("BYTES"), default_text("256MiB"));
  add_choice<bool>(command, "--control", options.control, on_or_off,
                   "records of the hosts, and the control measurement before and after the run (off with "
                   "--oversubscribe)");
  add_timeout(command, request.timeout_s, "run");
}

}  // namespace hplcast::cli
