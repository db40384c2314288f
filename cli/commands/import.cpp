#include <map>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/platforms/platform_xml.hpp"

namespace hplcast::cli {

namespace {

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string scope;
  bool hpl = false, perflog = false, ramble = false, sacct = false, platform = false;
  std::string zone, kernels;  ///< of --platform
  std::string output;
};

/// Lines of progress and, at column N, the result of each run.
void import_hpl(const ImportOptions& options) {
  std::ostringstream rows;
  for (const std::string& path : options.inputs) {
    int number = 0;
    for (const core::HplLog& run : read_from(path, core::read_hpl_logs)) {
      const core::HplParameters& p = run.parameters;
      const std::string begin =
          core::csv_field(path) + core::printed(",%d,%lld,%d,%d,%d,", ++number, p.N, p.NB, p.P, p.Q);
      const double N = static_cast<double>(p.N);
      for (const core::HplProgress& line : run.progress) {
        const double left = N - line.column, flop = 2.0 / 3 * (N * N * N - left * left * left);
        rows << begin << core::printed("%.0f,%.9g,%.9g,\n", line.column, line.elapsed_s, flop / line.elapsed_s / 1e9);
      }
      if (!run.result) warn(path + core::printed(": run %d has no result", number));
      if (run.result)
        rows << begin << core::printed("%.0f,%.9g,%.9g,", N, run.result->time_s, run.result->gflops)
             << core::residual_text(*run.result) << '\n';
    }
  }
  write_result(options.output, [&](std::ostream& out) {
    out << "file,run,N,NB,P,Q,column,elapsed_s,gflops,residual\n" << rows.str();
  });
}

/// CSV with a row of each thing that `read` finds in the files: what `write` makes of it.
template <typename Read, typename Write>
void import_rows(const ImportOptions& options, const char* header, Read read, Write write) {
  std::ostringstream rows;
  for (const std::string& path : options.inputs)
    for (const auto& one : read_from(path, read)) write(rows, path, one);
  write_result(options.output, [&](std::ostream& out) { out << header << '\n' << rows.str(); });
}

/// A row per value of a variable.
void write_perflog(std::ostream& rows, const std::string& path, const core::PerflogRow& one) {
  rows << core::printed("%.0f", one.time_s);
  for (const std::string* text : {&one.system, &one.partition, &one.environment, &one.test, &one.jobid, &one.variable})
    rows << ',' << core::csv_field(*text);
  rows << ',' << core::shortest(one.value) << ',' << core::csv_field(one.unit);
  for (const auto& limit : {one.reference, one.lower, one.upper}) rows << ',' << (limit ? core::shortest(*limit) : "");
  rows << ',' << core::csv_field(one.result) << ',' << core::csv_field(path) << '\n';
}

/// Real runs for `compare`: those that have succeeded.
void write_ramble(std::ostream& rows, const std::string& path, const core::RambleRun& one) {
  if (one.status != "SUCCESS" || !(one.time_s > 0))
    return warn(path + ": left out " + one.experiment + ", which " +
                (one.status != "SUCCESS" ? "is " + one.status : "has no time"));
  rows << core::printed("%lld,%d,%d,%d,", one.N, one.NB, one.P, one.Q) << core::shortest(one.time_s) << ','
       << (one.gflops > 0 ? core::shortest(one.gflops) : "") << ',' << core::csv_field(one.experiment) << '\n';
}

void write_sacct(std::ostream& rows, const std::string&, const core::SlurmEnergy& one) {
  for (const std::string* text : {&one.job, &one.name, &one.nodes, &one.state}) rows << core::csv_field(*text) << ',';
  rows << core::shortest(one.elapsed_s) << ',' << core::shortest(one.energy_j) << ','
       << (one.elapsed_s > 0 ? core::printed("%.6g", one.energy_j / one.elapsed_s) : "") << '\n';
}

void import_platform(const ImportOptions& options) {
  if (options.inputs.size() > 1) throw core::UsageError("--platform takes one file");
  std::optional<core::ClusterModel> models;
  if (!options.kernels.empty()) models = read_cluster_file(options.kernels);
  const platforms::ImportedPlatform imported =
      read_from(options.inputs.front(), platforms::read_platform_xml, options.zone, models ? &*models : nullptr);
  tell(imported.cluster.hosts.text() + ", " + core::kind_of(imported.cluster.network.values().topology));
  for (const std::string& loss : imported.losses) tell("lost: " + loss);
  if (!models)
    warn(
        "rates of BLAS are the speed of the hosts, nothing of them is calibrated; --kernels takes models of a "
        "cluster.json");
  write_cluster_file(options.output, imported.cluster);
}

void run_import(const ImportOptions& options) {
  if (options.platform) return import_platform(options);
  if (options.hpl) return import_hpl(options);
  if (options.perflog)
    return import_rows(options,
                       "time_s,system,partition,environment,test,jobid,variable,value,unit,reference,lower,upper,"
                       "result,file",
                       core::read_perflog, write_perflog);
  if (options.ramble) return import_rows(options, "N,NB,P,Q,time_s,gflops,experiment", core::read_ramble, write_ramble);
  if (options.sacct)
    return import_rows(options, "job,name,nodes,state,elapsed_s,energy_j,mean_power_w", core::read_sacct, write_sacct);
  if (options.scope.empty()) throw core::UsageError("--scope is required: local or remote (or --hpl, --platform ...)");
  std::vector<core::MpiMeasurement> rows;
  std::map<std::string, std::size_t> of_source;
  for (const std::string& path : options.inputs) {
    const core::BenchmarkOutput output = read_from(path, core::read_benchmark_output, options.scope);
    for (const std::string& note : output.notes) tell("note: " + path + ": " + note);
    core::append(rows, output.rows);
  }
  for (const core::MpiMeasurement& row : rows) ++of_source[row.source];
  for (const auto& [source, count] : of_source)
    tell(std::to_string(count) + " rows of " + source + ", " + options.scope + " messages");
  warn(
      "these are means over many calls, without their scatter, without the cost of send and recv calls, and of one "
      "kind of messages only: docs/use/fit-network.md says what that means");
  write_result(options.output, [&](std::ostream& out) {
    out << core::imported_mpi_csv_header << '\n';
    for (const core::MpiMeasurement& row : rows) core::write_imported_row(out, row);
  });
}

}  // namespace

void setup_import(Command& app) {
  Command& command = add_command(
      app, "import", "Output of OSU or Intel MPI Benchmarks, HPL, ReFrame, Ramble, Slurm, and SimGrid's platforms",
      "hplcast import examples/import/osu_latency.txt --scope remote -o imported.csv\n"
      "  hplcast fit network imported.csv --detached 64KiB -o imported-network.json\n"
      "  hplcast import examples/import/hpl-one-node.out --hpl -o progress.csv");
  auto& options = command.runs<ImportOptions>(run_import);
  command.add_option(
      "files", options.inputs,
      "what osu_latency, osu_bw, IMB PingPong, HPL, ReFrame, Ramble or sacct have written, or platform.xml", required,
      reads("FILE"));
  Option* scope =
      command.add_option("--scope", options.scope, "where the two ranks were: local (one host) or remote (two)",
                         among({"local", "remote"}));
  std::vector<Option*> kinds = {scope};  // of files, of which one is given
  const auto add_kind = [&](const char* name, bool& value, const char* help) {
    Option* const kind = command.add_flag(name, value, help);
    for (const Option* other : kinds) kind->with(excludes(other));
    kinds.push_back(kind);
  };
  add_kind("--hpl", options.hpl, "the files are HPL's: CSV of the progress and the results of all runs");
  add_kind("--perflog", options.perflog,
           "the files are performance logs of ReFrame 3 or 4: CSV of all values with their references");
  add_kind("--ramble", options.ramble, "the files are results of Ramble (JSON): CSV of its runs of HPL, for `compare`");
  add_kind("--sacct", options.sacct,
           "the files are what `sacct --parsable2` prints: CSV of the joules and watts of jobs");
  add_kind("--platform", options.platform,
           "the file is a platform of SimGrid: cluster.json of its hosts, links and costs");
  command.add_option("--zone", options.zone, "id of the zone or cluster to take (default: all)", of_type("ID"),
                     needs(kinds.back()));
  command.add_option(
      "--kernels", options.kernels,
      "take the models of kernels, and of a program, from there (default: BLAS at the speed of the hosts)",
      reads("CLUSTER.json"), needs(kinds.back()));
  command.add_output(options.output, "CSV, or cluster.json (default: the standard output)");
}

}  // namespace hplcast::cli
