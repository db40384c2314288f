#include "hplcast/calibration/measure_detours.hpp"

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/measure/measuring_program.hpp"
#include "cli/support/options.hpp"
#include "hplcast/calibration/measure_dgemm.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/fit/detours.hpp"

namespace {

using namespace hplcast;
using namespace hplcast::cli;

std::string title_of(const core::CollectiveRun& kind) {
  std::string text = std::to_string(kind.count) + " x " + (kind.operation.empty() ? "series" : kind.operation);
  if (kind.size_bytes > 0) text += " of " + significant(kind.size_bytes, 6) + " B";
  return text + ", " + std::to_string(kind.ranks) + " ranks on " + core::counted(kind.hosts, "host");
}

std::vector<std::string> warnings_of(const fit::DetectorRuns& detector, const fit::Sensitivity& result) {
  std::vector<std::string> warnings;
  for (const auto& [level, sum] : detector.duty_sums) {
    const double duty = sum / static_cast<double>(detector.noisy.at(level).size());
    if (std::abs(duty / level - 1) > 0.1)
      warnings.push_back("the source took " + significant(100 * duty, 3) + " % at the level of " +
                         significant(100 * level, 3) + " %");
  }
  if (detector.shortest_periods < 5)
    warnings.push_back("a run has " + significant(detector.shortest_periods, 2) +
                       " periods of the source only: chance decides how many detours hit it; make them longer");
  const std::size_t half = detector.clean.size() / 2;
  if (half >= 3) {
    const std::vector<double> first(detector.clean.begin(), detector.clean.begin() + static_cast<std::ptrdiff_t>(half));
    const std::vector<double> second(detector.clean.begin() + static_cast<std::ptrdiff_t>(half), detector.clean.end());
    const fit::SampleSummary a = fit::summarize(first), b = fit::summarize(second);
    if (a.sd + b.sd > 0 && fit::welch_t_test(a, b).p_value < 1e-3)
      warnings.push_back("clean runs changed meanwhile, by " + signed_percent(b.mean / a.mean - 1) +
                         ": frequency, temperature, or another program");
  }
  if (result.clean.sd > 0.02 * result.clean.mean)
    warnings.push_back("clean runs scatter by " + percent(result.clean.sd / result.clean.mean) +
                       ": shared cores? Such a detector sees little");
  return warnings;
}

std::string verdict_of(const fit::LevelResult& level) {
  std::string text = fit::to_string(level.detection);
  if (level.runs_needed > 0) text += ": " + std::to_string(level.runs_needed) + " runs of each would decide";
  return text;
}

/// Clean runs, levels, their 99 % intervals, Welch's p, and the lowest level that is seen; then warnings.
/// @throws core::Error (bad_input) if a detector has fewer than 2 clean runs, or no level.
void print_sensitivity(std::ostream& out, const fit::DetectorRuns& detector) {
  const fit::Sensitivity result = fit::detector_sensitivity(detector);
  out << title_of(detector.kind) << '\n';
  TextTable table({"level", "runs", "mean [s]", "sd [s]", "99 % interval [s]", "increase", "gap [s]", "p", "verdict"});
  const auto interval = [](const fit::Bounds& b) { return significant(b.lower, 6) + " to " + significant(b.upper, 6); };
  const fit::SampleSummary& clean = result.clean;
  table.add({"clean", std::to_string(clean.count), significant(clean.mean, 6), significant(clean.sd, 3),
             interval(result.clean_interval), "", "", "", ""});
  for (const fit::LevelResult& level : result.levels)
    table.add({significant(100 * level.level, 3) + " %", std::to_string(level.runs.count),
               significant(level.runs.mean, 6), significant(level.runs.sd, 3),
               interval(fit::mean_interval(level.runs, result.confidence)), signed_percent(level.increase),
               significant(level.gap, 3), significant(level.p_value, 2), verdict_of(level)});
  table.write(out);
  if (result.limit) {
    out << "limit: " << significant(100 * *result.limit, 3) << " %, the lowest level that is seen, as all above it\n";
  } else {
    out << "limit: none, the highest level was not seen\n";
  }
  for (const std::string& warning : warnings_of(detector, result)) out << "warning: " << warning << '\n';
}

Json json_of(const fit::DetectorRuns& detector) {
  const fit::Sensitivity result = fit::detector_sensitivity(detector);
  Json json = HPLCAST_JSON(detector.kind, operation, size_bytes, count, ranks, hosts);
  json.update(Json{{"confidence", result.confidence}, {"clean_runs", result.clean.count}});
  json.update(Json{{"clean_mean_s", result.clean.mean}, {"clean_sd_s", result.clean.sd}});
  for (const fit::LevelResult& level : result.levels) {
    Json one = HPLCAST_JSON(level, level, increase, p_value, runs_needed);
    one.update(Json{{"mean_s", level.runs.mean}, {"sd_s", level.runs.sd}, {"runs", level.runs.count}});
    one.update(Json{{"gap_s", level.gap}, {"detection", fit::to_string(level.detection)}});
    json["levels"].push_back(std::move(one));
  }
  json["limit"] = result.limit ? Json(*result.limit) : Json(nullptr);
  json["warnings"] = warnings_of(detector, result);
  return json;
}

/// Nothing: collectives.
using Method = std::optional<calibration::GapMethod>;

struct Options {
  Method method = calibration::GapMethod::gaps;
  bool computes = false;  ///< between two readings of the clock
  MeasuringOptions common;
  std::string cores = "all";
  calibration::GapOptions gaps;
  double size_bytes = 2048;
  calibration::CollectiveOptions collectives;
  std::string evaluate;  ///< runs measured before
  bool json = false;
};

void warn_about_hardware_threads(const calibration::Topology& topology) {
  if (topology.hardware_threads() > static_cast<int>(topology.cores().size()))
    warn(
        "the cores have several hardware threads: one of each is watched, and what runs on the others slows it down "
        "without a gap");
}

void print_gaps(std::ostream& out, bool gaps, const calibration::GapReport& report) {
  TextTable table({"core", "watched [s]", gaps ? "detours" : "quanta", "per s", "longest", "lost"});
  for (const calibration::GapRow& row : report.rows)
    table.add({std::to_string(row.core), significant(row.watched_s), std::to_string(row.events),
               significant(static_cast<double>(row.events) / row.watched_s, 3),
               significant(1e6 * row.longest_s, 3) + " us", significant(100 * row.lost_s / row.watched_s, 3) + " %"});
  table.write(out);
  warn_all(report.warnings);
}

void measure_gaps(Options& options) {
  const calibration::Topology topology = calibration::Topology::of_this_machine();
  options.gaps.host = core::host_name();
  options.gaps.cores = calibration::parse_cores(options.cores, topology.cores());
  options.gaps.method = *options.method;
  constexpr double cold_bytes = 64e6;
  if (options.computes)  // some 60 us
    options.gaps.make_pass = [] { return calibration::repeated_dgemm({{256, 32, 128}}, cold_bytes, 1); };
  of_options([&] { calibration::validate(options.gaps); });
  const std::string output = core::all_replaced(options.common.output, "%h", options.gaps.host);  // gaps-node7.csv
  require_writable(output);
  if (options.common.check) return;
  warn_about_hardware_threads(topology);
  core::remove_leftovers_when_we_die();  // no rank of MPI here, and no thread yet
  start_watchdog("hplcast-measure-detours", options.common.time_limit_s);
  Progress progress;
  options.gaps.progress = [&](double fraction) { progress.update(fraction, "watching"); };
  calibration::GapReport report;
  write_rows(output, core::written([&](std::ostream& out) { report = calibration::measure_gaps(options.gaps, out); }));
  progress.clear();
  print_gaps(std::cerr, options.method == calibration::GapMethod::gaps, report);
}

void evaluate(const Options& options) {
  std::vector<core::CollectiveRun> runs;
  core::read_file(options.evaluate, [&](std::istream& in, const std::string& name) {
    core::read_collective_csv(in, name, [&](const core::CollectiveRun& run) { runs.push_back(run); });
  });
  const auto detectors = fit::detector_runs(runs);
  if (detectors.empty()) throw InputError("there are no runs but those of the warm-up");
  Json json = {{"detectors", Json::array()}};
  for (const fit::DetectorRuns& detector : detectors) json["detectors"].push_back(json_of(detector));
  if (options.json) return write_result(options.common.output, json);
  write_result(options.common.output, [&](std::ostream& out) {
    for (const fit::DetectorRuns& detector : detectors) print_sensitivity(out, detector);
  });
}

/// All but collectives. True if that was it.
bool without_mpi(Options& options) {
  if (!options.evaluate.empty()) {
    evaluate(options);
    return true;
  }
  if (options.json) throw core::UsageError("--json goes with --evaluate");
  if (options.computes && options.method != calibration::GapMethod::gaps)
    throw core::UsageError("--work goes with --method gaps");
  if (!options.method || options.common.describe) return false;
  if (!options.common.machine.empty() || !options.common.monitoring.empty() || !options.common.position.empty())
    throw core::UsageError("--machine, --monitoring and --position go with --method collectives");
  measure_gaps(options);
  return true;
}

std::string measure_collectives(Options& options, const MeasuringRank& rank) {
  options.collectives.size_bytes = static_cast<long>(options.size_bytes);
  options.collectives.epoch_s = rank.epoch_s;
  of_options([&] { calibration::validate(options.collectives, rank.world); });
  if (options.common.check) return "";
  const bool root = rank.world.rank() == 0;
  if (root) warn_about_hardware_threads(rank.topology);
  Progress progress;
  if (root) options.collectives.progress = [&](double fraction) { progress.update(fraction, "series"); };
  const auto runs = calibration::measure_collectives(rank.world, rank.place, options.collectives);
  progress.clear();
  if (!root) return "";
  const bool is_noisy = options.collectives.series.levels != std::vector<double>{0};
  if (is_noisy)
    for (const fit::DetectorRuns& detector : fit::detector_runs(runs)) print_sensitivity(std::cerr, detector);
  return core::written([&](std::ostream& out) {
    out << core::collective_csv_header << '\n';
    for (const core::CollectiveRun& run : runs) core::write_row(out, run);
  });
}

void add_gap_options(Command& app, Options& options) {
  app.add_option("--for", options.gaps.for_s, "gaps, fwq, ftq: how long to watch", as_seconds, with_default);
  app.add_option("--threshold", options.gaps.threshold_s,
                 "gaps: what is longer than the shortest loop (dgemm: than usual) and this, counts", as_seconds,
                 with_default);
  add_choice<bool>(app, "--work", options.computes, {{"none", false}, {"dgemm", true}},
                   "gaps: what the loop does between two readings of the clock");
  app.add_option("--quantum", options.gaps.quantum_s, "fwq, ftq: length of a quantum", as_seconds, with_default);
  app.add_option("--cores", options.cores, "gaps, fwq, ftq: cores to watch at once, such as 0-3,8, or all",
                 with_default);
}

void add_collective_options(Command& app, Options& options) {
  using namespace calibration;
  CollectiveOptions& collectives = options.collectives;
  add_choice(app, "--operation", collectives.operation, "collectives: which one");
  app.add_option("--size", options.size_bytes,
                 "collectives: bytes of the vector (allreduce), or to each rank (alltoall)", as_bytes, with_default);
  app.add_option("--count", collectives.count, "collectives: calls of a series (default: as many as --run-time holds)",
                 between(1L, 1000000000000L));
  app.add_option("--run-time", collectives.run_s, "collectives: time of a series without a source", as_seconds,
                 with_default);
  collectives.series.levels = {0.01};
  app.add_option("--levels", collectives.series.levels,
                 "collectives: shares of time that the source takes, such as 1%,0.3%,0.1%", as_percentage, by_commas,
                 default_text("1%"));
  app.add_option("--runs", collectives.series.runs, "collectives: series of each level, between clean ones",
                 between(2, 100000), with_default);
  app.add_option("--warm-up", collectives.series.warm_up, "collectives: series at the beginning that are set aside",
                 between(0, 1000), with_default);
  app.add_option("--period", collectives.period_s, "collectives: of the source", as_seconds, with_default);
  app.add_flag("--synchronous", collectives.synchronous, "collectives: sources begin at multiples of the period");
  add_choice(app, "--source-on", collectives.place,
             "collectives: a source beside one rank of each host, or beside every rank");
  app.add_option("--seed", collectives.series.seed, "collectives: of the order of the series", with_default);
  app.add_option("--evaluate", options.evaluate, "measure nothing: the table of these runs (CSV of collectives)",
                 of_type("RUNS.csv"));
  app.add_flag("--json", options.json, "with --evaluate: JSON");
}

}  // namespace

int main(int argc, char** argv) {
  Command app("Measures detours: times in which the operating system or an agent takes a core away.",
              "hplcast-measure-detours");
  set_example(app, "hplcast-measure-detours --method gaps --for 2s -o gaps.csv");
  Options options;
  options.common.takes_design = false;
  using calibration::GapMethod;
  add_choice<Method>(
      app, "--method", options.method,
      {{"gaps", GapMethod::gaps}, {"fwq", GapMethod::fwq}, {"ftq", GapMethod::ftq}, {"collectives", std::nullopt}},
      "gaps in a loop that reads the clock; fixed work or fixed time quanta; under mpirun: series of "
      "a collective operation, beside a source of detours and without one");
  add_gap_options(app, options);
  add_collective_options(app, options);
  add_measuring_options(app, options.common);
  options.common.without_mpi = [&] { return without_mpi(options); };
  return run_measuring_program(app, options.common, argc, argv, [&](const MeasuringRank& rank, const std::string&) {
    return measure_collectives(options, rank);
  });
}
