#include <unistd.h>

#include <iostream>

#include "checks.hpp"
#include "choice.hpp"
#include "core_list.hpp"
#include "hplcast/calibration/measure_gaps.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/leftovers.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "quantities.hpp"

namespace {

using namespace hplcast;

struct Options {
  std::string cores = "all";
  std::string output;
  calibration::GapOptions gaps;
};

std::string host_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return host;
}

/// "gaps-%h.csv" to "gaps-node7.csv".
std::string with_host(std::string path, const std::string& host) {
  for (std::size_t at = path.find("%h"); at != std::string::npos; at = path.find("%h", at + host.size()))
    path.replace(at, 2, host);
  return path;
}

void print_table(std::ostream& out, const Options& options, const calibration::GapReport& report) {
  const bool gaps = options.gaps.method == calibration::GapMethod::gaps;
  cli::TextTable table({"core", "watched [s]", gaps ? "detours" : "quanta", "per s", "longest", "lost"});
  for (const calibration::GapRow& row : report.rows)
    table.add({std::to_string(row.core), cli::significant(row.watched_s), std::to_string(row.events),
               cli::significant(static_cast<double>(row.events) / row.watched_s, 3),
               cli::significant(1e6 * row.longest_s, 3) + " us",
               cli::significant(100 * row.lost_s / row.watched_s, 3) + " %"});
  table.write(out);
}

void run(Options& options) {
  const calibration::Topology topology = calibration::Topology::of_this_machine();
  options.gaps.host = host_name();
  options.gaps.cores = cli::parse_cores(options.cores, topology.cores());
  cli::of_options([&] { calibration::validate(options.gaps); });
  options.output = with_host(options.output, options.gaps.host);
  cli::require_writable(options.output);
  if (topology.hardware_threads() > static_cast<int>(topology.cores().size()))
    std::cerr
        << "hplcast-measure-detours: warning: the cores have several hardware threads: one of each is watched, and "
           "what runs on the others slows it down without a gap\n";
  cli::Progress progress;
  options.gaps.progress = [&](double fraction) { progress.update(fraction, "watching"); };
  calibration::GapReport report;
  cli::write_result(options.output, [&](std::ostream& out) { report = calibration::measure_gaps(options.gaps, out); });
  progress.clear();
  print_table(std::cerr, options, report);
  for (const std::string& warning : report.warnings)
    std::cerr << "hplcast-measure-detours: warning: " << warning << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  core::remove_leftovers_when_we_die();
  CLI::App app("Measures detours: times in which the operating system or an agent takes a core away.",
               "hplcast-measure-detours");
  cli::set_example(app, "hplcast-measure-detours --method gaps --for 2s -o gaps.csv");
  Options options;
  cli::add_choice<calibration::GapMethod>(app, "--method", options.gaps.method,
                                          {{"gaps", calibration::GapMethod::gaps},
                                           {"fwq", calibration::GapMethod::fwq},
                                           {"ftq", calibration::GapMethod::ftq}},
                                          "gaps in a loop that reads the clock, fixed work or fixed time quanta");
  app.add_option("--for", options.gaps.for_s, "how long to watch")->transform(cli::as_seconds())->capture_default_str();
  app.add_option("--threshold", options.gaps.threshold_s,
                 "gaps: what is longer than the shortest loop and this, counts")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--quantum", options.gaps.quantum_s, "fwq, ftq: length of a quantum")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--cores", options.cores, "cores to watch at once, such as 0-3,8, or all")->capture_default_str();
  app.add_option("-o,--output", options.output, "CSV to write; %h in it is the host's name (default: standard output)")
      ->type_name("FILE");
  app.callback([&] { run(options); });
  return cli::run_program(app, argc, argv);
}
