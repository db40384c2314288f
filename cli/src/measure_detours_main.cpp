#include <iostream>
#include <sstream>

#include "checks.hpp"
#include "choice.hpp"
#include "core_list.hpp"
#include "hplcast/calibration/measure_collectives.hpp"
#include "hplcast/calibration/measure_gaps.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/host_and_time.hpp"
#include "hplcast/core/leftovers.hpp"
#include "measuring_program.hpp"
#include "output.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "quantities.hpp"
#include "sensitivity_table.hpp"

namespace {

using namespace hplcast;

enum class Method { gaps, fwq, ftq, collectives };

struct Options {
  Method method = Method::gaps;
  cli::MeasuringOptions common;
  std::string cores = "all";
  calibration::GapOptions gaps;
  double size_bytes = 2048;
  calibration::CollectiveOptions collectives;
  std::string evaluate;  ///< runs measured before
  bool json = false;
};

/// "gaps-%h.csv" to "gaps-node7.csv".
std::string with_host(std::string path, const std::string& host) {
  for (std::size_t at = path.find("%h"); at != std::string::npos; at = path.find("%h", at + host.size()))
    path.replace(at, 2, host);
  return path;
}

void warn(const std::string& text) {
  std::cerr << "hplcast-measure-detours: warning: " << text << '\n';
}

void warn_about_hardware_threads(const calibration::Topology& topology) {
  if (topology.hardware_threads() > static_cast<int>(topology.cores().size()))
    warn(
        "the cores have several hardware threads: one of each is watched, and what runs on the others slows it down "
        "without a gap");
}

void print_gaps(std::ostream& out, bool gaps, const calibration::GapReport& report) {
  cli::TextTable table({"core", "watched [s]", gaps ? "detours" : "quanta", "per s", "longest", "lost"});
  for (const calibration::GapRow& row : report.rows)
    table.add({std::to_string(row.core), cli::significant(row.watched_s), std::to_string(row.events),
               cli::significant(static_cast<double>(row.events) / row.watched_s, 3),
               cli::significant(1e6 * row.longest_s, 3) + " us",
               cli::significant(100 * row.lost_s / row.watched_s, 3) + " %"});
  table.write(out);
  for (const std::string& warning : report.warnings) warn(warning);
}

void measure_gaps(Options& options) {
  const calibration::Topology topology = calibration::Topology::of_this_machine();
  options.gaps.host = core::host_name();
  options.gaps.cores = cli::parse_cores(options.cores, topology.cores());
  options.gaps.method = options.method == Method::fwq   ? calibration::GapMethod::fwq
                        : options.method == Method::ftq ? calibration::GapMethod::ftq
                                                        : calibration::GapMethod::gaps;
  cli::of_options([&] { calibration::validate(options.gaps); });
  const std::string output = with_host(options.common.output, options.gaps.host);
  cli::require_writable(output);
  if (options.common.check) return;
  warn_about_hardware_threads(topology);
  core::remove_leftovers_when_we_die();  // no rank of MPI here, and no thread yet
  cli::Progress progress;
  options.gaps.progress = [&](double fraction) { progress.update(fraction, "watching"); };
  calibration::GapReport report;
  cli::write_result(output, [&](std::ostream& out) { report = calibration::measure_gaps(options.gaps, out); });
  progress.clear();
  print_gaps(std::cerr, options.method == Method::gaps, report);
}

void evaluate(const Options& options) {
  std::vector<core::CollectiveRun> runs;
  core::read_file(options.evaluate, [&](std::istream& in, const std::string& name) {
    core::read_collective_csv(in, name, [&](const core::CollectiveRun& run) { runs.push_back(run); });
  });
  cli::write_result(options.common.output, [&](std::ostream& out) {
    options.json ? cli::write_sensitivity_json(out, runs) : cli::print_sensitivity(out, runs);
  });
}

/// All but collectives. True if that was it.
bool without_mpi(Options& options) {
  if (!options.evaluate.empty()) {
    evaluate(options);
    return true;
  }
  if (options.json) throw core::UsageError("--json goes with --evaluate");
  if (options.method == Method::collectives) return false;
  measure_gaps(options);
  return true;
}

std::string measure_collectives(Options& options, const cli::MeasuringRank& rank) {
  options.collectives.size_bytes = static_cast<long>(options.size_bytes);
  options.collectives.epoch_s = rank.epoch_s;
  cli::of_options([&] { calibration::validate(options.collectives, rank.world); });
  if (options.common.check) return "";
  const bool root = rank.world.rank() == 0;
  if (root) warn_about_hardware_threads(rank.topology);
  cli::Progress progress;
  if (root) options.collectives.progress = [&](double fraction) { progress.update(fraction, "series"); };
  const auto runs = calibration::measure_collectives(rank.world, rank.place, options.collectives);
  progress.clear();
  std::ostringstream csv;
  if (!root) return "";
  csv << core::collective_csv_header << '\n';
  for (const core::CollectiveRun& run : runs) core::write_row(csv, run);
  const bool is_noisy = options.collectives.series.levels != std::vector<double>{0};
  if (is_noisy) cli::print_sensitivity(std::cerr, runs);
  return csv.str();
}

void add_gap_options(CLI::App& app, Options& options) {
  app.add_option("--for", options.gaps.for_s, "gaps, fwq, ftq: how long to watch")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--threshold", options.gaps.threshold_s,
                 "gaps: what is longer than the shortest loop and this, counts")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--quantum", options.gaps.quantum_s, "fwq, ftq: length of a quantum")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_option("--cores", options.cores, "gaps, fwq, ftq: cores to watch at once, such as 0-3,8, or all")
      ->capture_default_str();
}

void add_collective_options(CLI::App& app, Options& options) {
  using namespace calibration;
  CollectiveOptions& collectives = options.collectives;
  cli::add_choice<Collective>(
      app, "--operation", collectives.operation,
      {{"barrier", Collective::barrier}, {"allreduce", Collective::allreduce}, {"alltoall", Collective::alltoall}},
      "collectives: which one");
  app.add_option("--size", options.size_bytes,
                 "collectives: bytes of the vector (allreduce), or to each rank (alltoall)")
      ->transform(cli::as_bytes())
      ->capture_default_str();
  app.add_option("--count", collectives.count, "collectives: calls of a series (default: as many as --run-time holds)")
      ->check(CLI::Range(1L, 1000000000000L));
  app.add_option("--run-time", collectives.run_s, "collectives: time of a series without a source")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  collectives.series.levels = {0.01};
  app.add_option("--levels", collectives.series.levels,
                 "collectives: shares of time that the source takes, such as 1%,0.3%,0.1%")
      ->transform(cli::as_percentage())
      ->delimiter(',')
      ->default_str("1%");
  app.add_option("--runs", collectives.series.runs, "collectives: series of each level, between clean ones")
      ->check(CLI::Range(2, 100000))
      ->capture_default_str();
  app.add_option("--warm-up", collectives.series.warm_up, "collectives: series at the beginning that are set aside")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--period", collectives.period_s, "collectives: of the source")
      ->transform(cli::as_seconds())
      ->capture_default_str();
  app.add_flag("--synchronous", collectives.synchronous, "collectives: sources begin at multiples of the period");
  cli::add_choice<SourcePlace>(app, "--source-on", collectives.place,
                               {{"host", SourcePlace::host}, {"core", SourcePlace::core}},
                               "collectives: a source beside one rank of each host, or beside every rank");
  app.add_option("--seed", collectives.series.seed, "collectives: of the order of the series")->capture_default_str();
  app.add_option("--evaluate", options.evaluate, "measure nothing: the table of these runs (CSV of collectives)")
      ->type_name("RUNS.csv");
  app.add_flag("--json", options.json, "with --evaluate: JSON");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures detours: times in which the operating system or an agent takes a core away.",
               "hplcast-measure-detours");
  cli::set_example(app, "hplcast-measure-detours --method gaps --for 2s -o gaps.csv");
  Options options;
  options.common.takes_design = false;
  cli::add_choice<Method>(
      app, "--method", options.method,
      {{"gaps", Method::gaps}, {"fwq", Method::fwq}, {"ftq", Method::ftq}, {"collectives", Method::collectives}},
      "gaps in a loop that reads the clock; fixed work or fixed time quanta; under mpirun: series of "
      "a collective operation, beside a source of detours and without one");
  add_gap_options(app, options);
  add_collective_options(app, options);
  cli::add_measuring_options(app, options.common);
  options.common.without_mpi = [&] { return without_mpi(options); };
  return cli::run_measuring_program(
      app, options.common, argc, argv,
      [&](const cli::MeasuringRank& rank, const std::string&) { return measure_collectives(options, rank); });
}
