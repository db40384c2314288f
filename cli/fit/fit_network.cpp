#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/fit/network_fit.hpp"

namespace hplcast::cli {

namespace {

constexpr const char* known_operations[] = {"send", "isend", "recv",     "pingpong",       "panel",  "iprobe",
                                            "test", "wtime", "exchange", "send_unmatched", "one_way"};

struct FitNetworkOptions {
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::string>> of_operation;  ///< operation, file
  std::string scope = "remote";
  std::pair<fit::Objective, bool> objective{fit::Objective::log, false};  ///< the second: of means
  std::vector<double> breakpoints;
  bool breakpoints_each = false;
  std::string thresholds;
  std::optional<double> async_small_bytes, detached_bytes;
  CapacityOptions capacities;
  fit::NetworkFitOptions fit;
  std::string plot;
  std::string output;
};

/// A file of measurements and what its rows are where it has no columns for that.
struct Source {
  fs::path path;
  std::string operation;
  bool has_scope = false;
};

bool is_operation(const std::string& name) {
  return std::find(std::begin(known_operations), std::end(known_operations), name) != std::end(known_operations);
}

/// `operation` is what the user said, or empty: then the column `operation`, or the name of the file, tells.
Source make_source(const fs::path& path, std::string operation) {
  require_rereadable(path);
  Source source{path, std::move(operation), false};
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    const core::CsvReader csv(in, name);
    const auto has = [&](const char* column) { return csv.find_column(column) != core::CsvReader::npos; };
    source.has_scope = has("scope");
    if (!source.operation.empty() || has("operation") || has("send_s")) return;
    const std::string stem = core::folded(path.stem().string());
    if (!is_operation(stem))
      throw core::ParseError({name, 1, "operation"}, "missing, and the name of the file is no operation",
                             "say what the rows are: --recv " + name);
    source.operation = stem;
  });
  return source;
}

std::vector<Source> sources_of(const FitNetworkOptions& options) {
  std::vector<Source> sources;
  for (const std::string& input : options.inputs) {
    if (!fs::is_directory(input)) {
      sources.push_back(make_source(input, ""));
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(input))
      if (entry.path().extension() == ".csv" && is_operation(core::folded(entry.path().stem().string())))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    if (files.empty())
      throw InputError(input + ": no files of measurements; expected PingPong.csv, Send.csv, Recv.csv ...");
    for (const fs::path& file : files) sources.push_back(make_source(file, ""));
  }
  for (const auto& [operation, file] : options.of_operation) sources.push_back(make_source(file, operation));
  if (sources.empty())
    throw core::UsageError("no measurements given: name CSV files, a folder of them, or --pingpong FILE");
  return sources;
}

fit::MpiRows rows_of(const std::vector<Source>& sources, const std::string& scope) {
  return [&sources, scope](const std::function<void(const core::MpiMeasurement&)>& each) {
    for (const Source& source : sources) {
      core::read_file(source.path, [&](std::istream& in, const std::string& name) {
        core::read_mpi_csv(in, name, source.operation, [&](const core::MpiMeasurement& row) {
          if (source.has_scope) return each(row);
          core::MpiMeasurement scoped = row;
          scoped.scope = scope;
          each(scoped);
        });
      });
    }
  };
}

fit::NetworkFitOptions fit_options(const FitNetworkOptions& given) {
  fit::NetworkFitOptions options = given.fit;
  std::tie(options.regression.objective, options.means) = given.objective;
  if (!given.breakpoints.empty()) options.breakpoints = given.breakpoints;
  if (given.breakpoints_each) options.breakpoint_choice = fit::BreakpointChoice::each;
  if (!given.thresholds.empty()) read_from(given.thresholds, fit::set_thresholds, options);
  if (given.async_small_bytes) options.async_small_bytes = static_cast<std::uint64_t>(*given.async_small_bytes);
  if (given.detached_bytes) options.detached_bytes = static_cast<std::uint64_t>(*given.detached_bytes);
  for (const auto& [scope, bytes_per_s] : {std::pair(core::Scope::local, given.capacities.local_bytes_per_s),
                                           std::pair(core::Scope::remote, given.capacities.remote_bytes_per_s)})
    if (bytes_per_s > 0) options.capacity_bytes_per_s[static_cast<std::size_t>(scope)] = bytes_per_s;
  return options;
}

Json lines_json(const core::SegmentedLaw& law) {
  Json lines = Json::array();
  for (const core::Segment& s : law.segments())
    lines.push_back(
        {{"min_size", s.min_bytes}, {"intercept_s", s.intercept_s}, {"slope_s_per_byte", s.slope_s_per_byte}});
  return lines;
}

/// Parameters of SMPI: the same numbers under SimGrid's names.
Json smpi_json(const core::ScopeModel& scope) {
  Json json = {{"os", lines_json(scope.cost(core::MessageCost::send))},
               {"ois", lines_json(scope.cost(core::MessageCost::isend))},
               {"or", lines_json(scope.cost(core::MessageCost::recv))}};
  for (const fit::TransferFactors& f : fit::transfer_factors(scope)) {
    json["bw_factor"].push_back({{"min_size", f.min_bytes}, {"factor", f.bandwidth_factor}});
    json["lat_factor"].push_back({{"min_size", f.min_bytes}, {"factor", f.latency_factor}});
  }
  return json;
}

Json rate_json(const fit::RateEstimate& rate) {
  return {{"bytes_per_s", rate.bytes_per_s}, {"interval_bytes_per_s", {rate.low_bytes_per_s, rate.high_bytes_per_s}}};
}

/// Bandwidth against the number of simultaneous pairs, per scope; empty where nothing was measured.
Json saturation_json(const fit::NetworkFit& fit) {
  Json json = Json::object();
  for (const core::Scope scope : {core::Scope::local, core::Scope::remote}) {
    const fit::LinkCapacityFit& capacity = fit.capacities[static_cast<std::size_t>(scope)];
    if (capacity.status == fit::SaturationStatus::no_rows) continue;
    Json& one = json[to_string(scope)] = {{"status", to_string(capacity.status)}};
    if (capacity.single) one["single_pair"] = rate_json(*capacity.single);
    if (capacity.ok()) one["plateau_pairs"] = {capacity.plateau_from_pairs, capacity.plateau_to_pairs};
    for (const fit::SaturationPoint& point : capacity.points) {
      Json entry = {{"pairs", point.pairs}, {"rows", point.turns}};
      entry.update(rate_json(point.total));
      one["points"].push_back(std::move(entry));
    }
  }
  return json;
}

Json report_json(const fit::NetworkFit& fit) {
  Json operations = Json::array();
  for (const fit::OperationReport& r : fit.operations) {
    Json one = {{"scope", to_string(r.scope)}};
    one.update(HPLCAST_JSON(r, operation, rows, rows_failed, rows_set_aside, rows_capped, share_above_cap, sizes,
                            min_bytes, max_bytes));
    one["segments"] = r.segments.size();
    one["relative_sd"] = r.relative_sd;
    operations.push_back(std::move(one));
  }
  Json flags = Json::array();
  for (const fit::QualityFlag& flag : fit.flags) flags.push_back(HPLCAST_JSON(flag, subject, flag, detail));
  return {{"operations", std::move(operations)},
          {"saturation", saturation_json(fit)},
          {"flags", std::move(flags)},
          {"notes", fit.notes}};
}

Json to_json(const fit::NetworkFit& fit) {
  Json json = core::parse_json<Json>(core::network_model_json(fit.model));
  const core::NetworkModel::Values& values = fit.model.values();
  Json& smpi = json["smpi"] = Json::object();
  smpi["local"] = smpi_json(values.local);
  if (values.remote) smpi["remote"] = smpi_json(*values.remote);
  smpi["async_small_thresh"] = values.async_small_bytes;
  smpi["send_is_detached_thresh"] = values.detached_bytes;
  smpi.update(HPLCAST_JSON(values, wtime_s, iprobe_s, test_s));
  json["report"] = report_json(fit);
  return json;
}

void summarise(const fit::NetworkFit& fit) {
  TextTable table({"scope", "operation", "rows", "set aside", "capped", "failed", "sizes", "segments", "spread"});
  for (const fit::OperationReport& r : fit.operations)
    table.add({to_string(r.scope), r.operation, std::to_string(r.rows), std::to_string(r.rows_set_aside),
               std::to_string(r.rows_capped), std::to_string(r.rows_failed), std::to_string(r.sizes),
               std::to_string(r.segments.size()), percent(r.relative_sd)});
  table.write(std::cerr);
  for (const std::string& note : fit.notes) std::cerr << "note: " << note << '\n';
}

void draw(const fit::NetworkFit& fit, const std::string& plot) {
  for (const fit::OperationReport& r : fit.operations) {
    if (r.segments.empty()) continue;
    const std::string scope = to_string(r.scope);
    const bool detached = r.operation == "send" || r.operation == "recv";
    write_picture(
        picture_name(plot, {scope, r.operation}),
        segments_picture({r.operation + ", " + scope, "size [bytes]", "duration [s]", r.cells, r.segments, r.noise,
                          true, detached ? static_cast<double>(fit.model.values().detached_bytes) : HUGE_VAL}));
  }
}

void run_fit_network(const FitNetworkOptions& given) {
  require_distinct("input", given.inputs);
  const std::vector<Source> sources = sources_of(given);
  const fit::NetworkFitOptions options = of_options([&] {
    fit::NetworkFitOptions checked = fit_options(given);
    fit::validate(checked);
    return checked;
  });
  fit::NetworkFit fit = fit::fit_network(rows_of(sources, given.scope), options);
  if (!fit.ok()) throw core::Error(core::ExitCode::no_acceptable_fit, "no network model: " + fit.reason);
  fit.model = with_capacities(fit.model, given.capacities);
  summarise(fit);
  warn_of_flags(fit.flags);
  core::ClusterModel alone;
  alone.network = fit.model;
  warn_of_implausible(alone, "/network");
  if (!given.plot.empty()) draw(fit, given.plot);
  write_result(given.output, to_json(fit));
}

void add_inputs(Command& command, FitNetworkOptions& options) {
  command.add_option(
      "input", options.inputs,
      "CSV files of measurements, or a folder with files named after operations (PingPong.csv, Recv.csv ...)",
      reads("FILE"));
  for (const char* operation : known_operations) {
    std::string flag = operation;
    std::replace(flag.begin(), flag.end(), '_', '-');
    command.add_option_function<std::string>(
        "--" + flag,
        [&options, operation](const std::string& file) { options.of_operation.emplace_back(operation, file); },
        std::string("CSV whose rows are all of operation ") + operation, reads("FILE"));
  }
  command.add_option("--scope", options.scope, "of rows in files without that column", among({"local", "remote"}),
                     with_default);
}

void add_method(Command& command, FitNetworkOptions& options) {
  // Before the options that it stands for: callbacks run in this order, so that one of those given as well prevails.
  command.add_flag_callback(
      "--published",
      [&options] {
        options.fit.transfer = fit::TransferArithmetic::half_of_difference;
        options.fit.filter = fit::RowFilter::visits;
        options.objective = {fit::Objective::ols, false};
        options.fit.physical = false;
        options.fit.wtime_calls_per_row = 1e7;
      },
      "the method of the calibrations of 2016: half-of-difference, visits, ols, --allow-negative, --wtime-calls 1e7");
  add_choice<fit::TransferArithmetic>(
      command, "--transfer", options.fit.transfer,
      {{"simulated", fit::TransferArithmetic::simulated},
       {"half-of-difference", fit::TransferArithmetic::half_of_difference},
       {"half-minus-receive", fit::TransferArithmetic::half_minus_receive}},
      "time in the network from ping-pong p, send s, receive r: simulated (p/2 - s - r), half-of-difference "
      "((p - r)/2), half-minus-receive (p/2 - r)");
  add_choice<fit::RowFilter>(
      command, "--filter", options.fit.filter,
      {{"robust", fit::RowFilter::robust}, {"visits", fit::RowFilter::visits}, {"none", fit::RowFilter::none}},
      "rows that count: robust (all but gross outliers), visits (10 to 90 % of each ten), none (all)");
  add_choice<std::pair<fit::Objective, bool>>(
      command, "--objective", options.objective,
      {{"log", {fit::Objective::log, false}},
       {"weighted", {fit::Objective::weighted, false}},
       {"ols", {fit::Objective::ols, false}},
       {"mean", {fit::Objective::log, true}}},
      "of the regressions: log, weighted, ols, or mean (sums of durations are right; breakpoints by log)");
  add_choice(command, "--noise", options.fit.noise, "of each segment, relative: none, n1 (log-normal) or mixture");
  const Option* given =
      command.add_option("--breakpoints", options.breakpoints,
                         "starts of the segments after the first (default: searched)", by_commas, one_each);
  command.add_flag("--breakpoints-each", options.breakpoints_each,
                   "every operation its own breakpoints (default: those of the ping-pong)", excludes(given));
  command.add_flag("!--allow-negative", options.fit.physical,
                   "do not force costs >= 0 and messages no faster than the link");
}

}  // namespace

void setup_fit_network(Command& app) {
  Command& command = add_command(app, "network", "The network model from MPI measurements",
                                 "hplcast fit network examples/fit-library/mpi.csv -o network.json");
  auto& options = command.runs<FitNetworkOptions>(run_fit_network);
  add_inputs(command, options);
  add_method(command, options);
  command.add_option("--thresholds", options.thresholds,
                     "JSON of hplcast-measure-thresholds (default: from rows send_unmatched)", reads("FILE"));
  const Check int_bytes = between(0.0, 2147483647.0);  // SMPI's thresholds
  command.add_option("--async-small", options.async_small_bytes, "messages below are eager", as_bytes, int_bytes);
  command.add_option("--detached", options.detached_bytes,
                     "below, MPI_Send does not wait for the receiver (default: --async-small)", as_bytes, int_bytes);
  command.add_option("--receive-delay", options.fit.receive_delay_s, "how late the receiver of send_unmatched came",
                     as_seconds, with_default);
  command.add_option("--bandwidth", options.fit.bandwidth_bytes_per_s,
                     "that factors refer to (default: of long messages)", as_link_bandwidth("--bandwidth"));
  command.add_option("--latency", options.fit.latency_s, "that factors refer to (default: of the shortest messages)",
                     as_latency("--latency"));
  add_capacity_options(command, options.capacities);
  command.add_flag("--all-backgrounds", options.fit.all_backgrounds,
                   "keep all messages, also if some were measured with the background dgemm+iprobe, as in HPL");
  command.add_option("--wtime-calls", options.fit.wtime_calls_per_row, "calls that one row of wtime covers",
                     with_default);
  command.add_option("--plot", options.plot, "pictures, .png or .svg: FILE-SCOPE-OPERATION.png", draws("FILE"));
  command.add_json_output(options.output, "file of the result");
}

}  // namespace hplcast::cli
