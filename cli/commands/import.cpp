#include <map>

#include "cli/commands/commands.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::cli {

namespace {

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string scope;
  std::string output;
};

void run_import(const ImportOptions& options) {
  std::vector<core::MpiMeasurement> rows;
  std::map<std::string, std::size_t> of_source;
  for (const std::string& path : options.inputs) {
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      const core::BenchmarkOutput output = core::read_benchmark_output(in, name, options.scope);
      for (const std::string& note : output.notes) tell("note: " + name + ": " + note);
      rows.insert(rows.end(), output.rows.begin(), output.rows.end());
    });
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
  Command& command =
      add_command(app, "import", "Measurements of messages from the output of OSU or Intel MPI Benchmarks",
                  "hplcast import examples/import/osu_latency.txt --scope remote -o imported.csv\n"
                  "  hplcast fit network imported.csv --detached 64KiB -o imported-network.json");
  auto& options = command.runs<ImportOptions>(run_import);
  command.add_option("files", options.inputs, "what osu_latency, osu_bw or IMB PingPong have printed", required,
                     reads("FILE"));
  command.add_option("--scope", options.scope, "where the two ranks were: local (one host) or remote (two)", required,
                     among({"local", "remote"}));
  command.add_output(options.output, "CSV for `fit network` (default: the standard output)");
}

}  // namespace hplcast::cli
