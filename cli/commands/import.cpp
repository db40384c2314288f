#include <iostream>
#include <map>

#include "cli/commands/commands.hpp"
#include "cli/support/output.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::cli {

namespace {

struct ImportOptions {
  std::vector<std::string> inputs;
  std::string scope;
  std::string output;
};

void run_import(const ImportOptions& options) {
  require_writable(options.output);
  require_other_file(options.output, options.inputs);
  std::vector<core::MpiMeasurement> rows;
  std::map<std::string, std::size_t> of_source;
  for (const std::string& path : options.inputs) {
    core::read_file(path, [&](std::istream& in, const std::string& name) {
      const core::BenchmarkOutput output = core::read_benchmark_output(in, name, options.scope);
      for (const std::string& note : output.notes)
        std::cerr << "hplcast import: note: " << name << ": " << note << '\n';
      rows.insert(rows.end(), output.rows.begin(), output.rows.end());
    });
  }
  for (const core::MpiMeasurement& row : rows) ++of_source[row.source];
  for (const auto& [source, count] : of_source)
    std::cerr << "hplcast import: " << count << " rows of " << source << ", " << options.scope << " messages\n";
  std::cerr << "hplcast import: warning: these are means over many calls, without their scatter, without the cost of "
               "send and recv calls, and of one kind of messages only: docs/use/fit-network.md says what that means\n";
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
                     of_type("FILE"));
  command.add_option("--scope", options.scope, "where the two ranks were: local (one host) or remote (two)", required,
                     among({"local", "remote"}));
  command.add_option("-o,--output", options.output, "CSV for `fit network` (default: the standard output)",
                     of_type("FILE"));
}

}  // namespace hplcast::cli
