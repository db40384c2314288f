#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/progress.hpp"
#include "hplcast/calibration/instrumented_runs.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/process.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

struct Options {
  std::string configurations;
  std::string rows;
  std::string output;
  bool check = false;
  calibration::HplKernelRequest request;
};

void run(Options& options) {
  if (options.output.empty() && !options.check) throw core::UsageError("-o is required");
  core::catch_interrupts();
  if (options.request.program.empty())
    options.request.program = study::own_program("xhpl-instrumented", HPLCAST_VARIABLE_XHPL_INSTRUMENTED);
  options.request.configurations = read_configuration_file(options.configurations);
  cut(options.request.configurations, options.rows);
  if (options.check) return calibration::check_hpl_kernels(options.request);
  Progress progress;
  options.request.progress = [&](double fraction) { progress.update(fraction, "instrumented HPL"); };
  const auto measure = [&](std::ostream& out) { calibration::measure_hpl_kernels(options.request, out); };
  write_rows(options.output, core::written(measure));
  progress.clear();
}

}  // namespace

int main(int argc, char** argv) {
  core::remove_leftovers_when_we_die();
  Command app(
      "Measures HPL's kernels as HPL calls them: runs an HPL that times every call, and keeps a sample of the calls.",
      "hplcast-measure-kernels");
  set_example(app, "hplcast-measure-kernels --configurations runs.csv -o kernels.csv");
  Options options;
  app.add_option("--configurations", options.configurations, "an HPL.dat, or a CSV with columns N, NB, P ...", required,
                 reads("FILE"));
  app.add_option("-o,--output", options.output, "kernel CSV to write", writes("FILE"));
  app.add_flag("--check", options.check,
               "only look whether the program is on all hosts and the configurations are right");
  app.add_option("--max-rows", options.request.max_rows, "sampled calls per kernel, rank and configuration",
                 with_default, between(1L, 1000000L));
  app.add_option("--rows", options.rows, "FIRST:END, the configurations to run, END not included");
  app.add_option("--since", options.request.since_unix_s,
                 "start_s counts from this Unix time (default: from the start of each run)");
  app.add_option("--folder", options.request.folder, "where HPL runs; all hosts must see it (default: below $TMPDIR)",
                 of_type("DIR"));
  app.add_option("--hostfile", options.request.launch.hostfile, "hosts to run on, for mpirun (default: this machine)",
                 reads("FILE"));
  app.add_option("--mpirun", options.request.launch.mpirun, "Open MPI's mpirun, or Slurm's srun", of_type("PATH"));
  app.add_option("--launcher-option", options.request.launch.options,
                 "an option for it, given as --launcher-option=OPTION; may be repeated", one_each);
  app.add_option("--threads", options.request.launch.threads, "threads of the BLAS of each rank", between(1, 4096),
                 with_default);
  app.add_option("--blas", options.request.launch.blas, "shared library for HPL in place of the one it is linked with",
                 reads("FILE"));
  app.add_flag("!--no-bind", options.request.launch.bind,
               "do not bind the ranks to cores, unless options of the launcher do");
  app.add_flag("--allow-oversubscription", options.request.launch.oversubscribe, "allow several ranks per core");
  app.add_option("--program", options.request.program,
                 "the instrumented HPL (default: xhpl-instrumented beside this program)", of_type("PATH"));
  add_talk_options(app);
  app.callback([&] { run(options); });
  return run_program(app, argc, argv);
}
