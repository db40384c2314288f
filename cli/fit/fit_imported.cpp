#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/study/log_cluster.hpp"

namespace hplcast::cli {

namespace {

struct FitImportedOptions {
  std::vector<std::string> logs;
  std::vector<std::string> benchmarks;
  study::LogMachine machine;
  std::string output;
};

void tell_fit(const study::LogCluster& fit) {
  tell("dgemm " + significant(fit.dgemm_flop_per_s / 1e9) + " Gflop/s; all other kernels " +
       significant(fit.other_kernels, 3) + " times those of a core of 2017; " + core::time_text(fit.column_s) +
       " per column of a panel");
  tell("the logs' tenths of the columns are reproduced within " + percent(fit.largest_error) +
       ", the last one within " + percent(fit.last_error));
  if (fit.blocking_bytes_per_s > 0)
    tell("long messages: " + core::rate_text(fit.blocking_bytes_per_s) + " one by one" +
         (fit.windowed_bytes_per_s > 0 ? ", " + core::rate_text(fit.windowed_bytes_per_s) + " several at once" : ""));
  for (const std::string& one : fit.unknown) tell("not known: " + one);
}

void run_fit_imported(const FitImportedOptions& options) {
  require_distinct("logs", options.logs);
  study::LogMachine machine = options.machine;
  if (machine.nodes > 1 && options.benchmarks.empty())
    throw core::UsageError(
        "several nodes need --osu: what osu_latency (or IMB PingPong) and osu_bw printed between two");
  read_log_files(options.logs, options.benchmarks, machine);
  const study::LogCluster fit = study::fit_logs(machine);
  tell_fit(fit);
  write_cluster_file(options.output, fit.cluster);
}

}  // namespace

void setup_fit_imported(Command& app) {
  Command& command =
      add_command(app, "imported", "A cluster from logs of HPL on one node, and benchmarks of messages",
                  "hplcast fit imported examples/import/hpl-one-node.out --osu examples/import/osu_latency.txt "
                  "--nodes 4 -o imported-cluster.json\n"
                  "  hplcast predict imported-cluster.json -N 20000 --nb 240 -P 2 -Q 2");
  auto& options = command.runs<FitImportedOptions>(run_fit_imported);
  command.add_option("logs", options.logs, "outputs of HPL: one rank on one node, with lines of progress", required,
                     reads("LOG"));
  command.add_option("--osu", options.benchmarks,
                     "outputs of osu_latency, osu_bw or IMB PingPong between two nodes; several", reads("FILE"),
                     one_each, many);
  command.add_option("--nodes", options.machine.nodes, "of the cluster, each with one rank of all its cores", positive,
                     with_default);
  command.add_option("--threads", options.machine.threads,
                     "of the BLAS of each rank, one per core of the node: what a plausible rate is depends on them",
                     between(1, 4096), with_default);
  command.add_option("--memory", options.machine.memory_bytes, "of a node", as_memory("--memory"));
  command.add_option("--detached", options.machine.detached_bytes,
                     "below this size MPI_Send does not wait for the receiver (default: 64KiB)", as_bytes);
  command.add_option("--name", options.machine.name, "of the cluster");
  command.add_output(options.output, "cluster.json (default: the standard output)");
}

}  // namespace hplcast::cli
