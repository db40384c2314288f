#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "checks.hpp"
#include "cluster_file.hpp"
#include "commands.hpp"
#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/published_power.hpp"
#include "hplcast/fit/power_fit.hpp"
#include "output.hpp"
#include "power_options.hpp"
#include "power_picture.hpp"
#include "program.hpp"
#include "talk.hpp"

namespace hplcast::cli {

namespace {

using Json = nlohmann::ordered_json;

struct FitPowerOptions {
  std::vector<std::string> files;
  std::string cluster;
  std::string plot;
  std::string output;
  std::string frequency;
  std::vector<std::string> sensors;
  std::vector<std::string> pstates;
  std::string application;
  bool by_host = false;
  fit::PowerFitOptions fit;
};

/// Samples of a file: of hplcast-measure-power, or a published table.
std::vector<core::PowerSample> samples_of(const std::string& file, const FitPowerOptions& options) {
  std::vector<core::PowerSample> samples;
  core::read_file(file, [&](std::istream& in, const std::string& name) {
    std::istringstream text(core::read_text(in, name, "expected samples of hplcast-measure-power"));
    std::string header;
    std::getline(text, header);
    text.seekg(0);
    if (!core::is_watt_per_state(header)) {
      samples = core::read_power_csv(text, name);
      return;
    }
    core::PublishedWatts which;
    which.application = options.application;
    for (const std::string& hz : options.pstates) which.states_hz.push_back(parse_frequency(hz));
    samples = core::read_watt_per_state(text, name, which);
  });
  return samples;
}

std::string polynomial_text(const fit::FittedWatts& watts) {
  static const char* const powers[] = {"", " f", " f^2"};
  std::string text;
  for (std::size_t i = 0; i < watts.coefficients.size(); ++i)
    text += (i == 0 ? "" : " + ") + significant(watts.coefficients[i]) + " (+- " +
            significant(watts.standard_errors[i], 2) + ")" + powers[i];
  return text.empty() ? "0" : text;
}

void print_fit(std::ostream& out, const fit::HostPowerFit& fit) {
  out << (fit.host.empty() ? "all hosts" : fit.host) << ": " << fit.rows << " pieces, R2 " << significant(fit.r2, 6)
      << ", rms " << significant(fit.rms_w, 3) << " W, largest residual " << significant(fit.max_residual_w, 3)
      << " W\n";
  TextTable table({"part", "watts (f in GHz)"});
  table.add({"idle", significant(fit.idle_w) + " (+- " + significant(fit.idle_error_w, 2) + ")"});
  table.add({"awake", polynomial_text(fit.awake)});
  for (const auto& [state, watts] : fit.states) table.add({"a core in " + state, polynomial_text(watts)});
  for (const fit::AllCoresCurve& curve : fit.all_cores)
    table.add({"all cores in " + curve.state, polynomial_text(curve.watts)});
  table.write(out);
}

Json to_json(const fit::FittedWatts& watts) {
  return {{"coefficients", watts.coefficients}, {"standard_errors", watts.standard_errors}};
}

Json to_json(const fit::HostPowerFit& fit) {
  Json json = {{"pieces", fit.rows},
               {"terms", fit.terms},
               {"r2", fit.r2},
               {"rms_w", fit.rms_w},
               {"max_residual_w", fit.max_residual_w},
               {"left_out", fit.outliers.size()},
               {"idle_w", fit.idle_w},
               {"idle_standard_error_w", fit.idle_error_w},
               {"awake", to_json(fit.awake)},
               {"states", Json::object()}};
  if (!fit.host.empty()) json["host"] = fit.host;
  for (const auto& [state, watts] : fit.states) json["states"][state] = to_json(watts);
  for (const fit::AllCoresCurve& curve : fit.all_cores) {
    Json one = to_json(curve.watts);
    one["state"] = curve.state;
    one["r2"] = curve.r2;
    one["rms_w"] = curve.rms_w;
    one["max_residual_w"] = curve.max_residual_w;
    json["all_cores"].push_back(std::move(one));
  }
  return json;
}

Json report_json(const fit::PowerFit& fit, const fit::PowerRows& rows) {
  Json report = to_json(fit.all);
  report["sensors"] = rows.sensors;
  for (const fit::HostPowerFit& host : fit.hosts) report["hosts"].push_back(to_json(host));
  report["flags"] = Json::array();
  for (const core::QualityFlag& flag : fit.flags)
    report["flags"].push_back({{"subject", flag.subject}, {"flag", flag.flag}, {"detail", flag.detail}});
  return report;
}

void write_model(const FitPowerOptions& options, std::optional<core::ClusterModel> cluster, const fit::PowerFit& fit,
                 const Json& report) {
  if (!cluster) {
    Json json = Json::parse(core::power_json(fit.model));
    json["report"] = report;
    write_result(options.output, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
    return;
  }
  if (cluster->power) std::cerr << "  note: this takes the place of the power of " << options.cluster << '\n';
  cluster->power = fit.model;
  Json provenance = Json::parse(cluster->provenance);
  provenance["power"] = report;
  cluster->provenance = provenance.dump();
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, *cluster); });
}

void run_fit_power(FitPowerOptions options) {
  require_writable(options.output);
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.cluster);
  for (const std::string& path : {options.output, options.plot}) require_other_file(path, inputs);
  if (!options.plot.empty()) require_picture(options.plot);
  require_distinct("files", options.files);
  if (options.by_host && options.cluster.empty())
    throw core::UsageError("--by-host needs --cluster: its hosts are those that the watts are of");
  if (!options.frequency.empty()) options.fit.frequency_hz = parse_frequency(options.frequency);
  std::optional<core::ClusterModel> cluster;
  if (!options.cluster.empty()) cluster = read_cluster_file(options.cluster);
  if (options.by_host) options.fit.hosts = &cluster->hosts;
  std::vector<core::PowerSample> samples;
  for (const std::string& file : options.files) {
    const auto some = samples_of(file, options);
    samples.insert(samples.end(), some.begin(), some.end());
  }
  const fit::PowerRows rows = fit::power_rows(samples, options.sensors);
  const fit::PowerFit fit = fit::fit_power(rows, options.fit);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  if (!is_quiet()) {
    print_fit(std::cerr, fit.all);
    for (const fit::HostPowerFit& host : fit.hosts) print_fit(std::cerr, host);
  }
  for (const core::QualityFlag& flag : fit.flags)
    std::cerr << "hplcast fit power: warning: " << flag.subject << ": " << flag.flag << ": " << flag.detail << '\n';
  if (!options.plot.empty()) write_picture(options.plot, power_picture(fit));
  write_model(options, std::move(cluster), fit, report_json(fit, rows));
}

}  // namespace

void setup_fit_power(CLI::App& fit) {
  auto options = std::make_shared<FitPowerOptions>();
  CLI::App& command = add_command(fit, "power", "Fit what hosts draw by what their cores do, to measured samples",
                                  "hplcast fit power examples/power/samples.csv -o power.json");
  command
      .add_option("files", options->files,
                  "of hplcast-measure-power, or a published table (watt_idle, watt_one_core, watt_all_cores)")
      ->required()
      ->type_name("SAMPLES.csv");
  command
      .add_option("--sensors", options->sensors,
                  "sensors that add up to the power of a host (default: one of the whole host, else packages and "
                  "memories)")
      ->delimiter(',');
  command.add_option("--degree", options->fit.degree, "of the polynomials in the frequency")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  command
      .add_option("--frequency", options->frequency,
                  "of the kernels of the cluster (default: the highest of the samples)")
      ->type_name("GHz");
  command.add_option("--application", options->application, "published tables: the application that is taken");
  command.add_option("--pstates", options->pstates, "published tables: frequencies of the states 0, 1, ...")
      ->delimiter(',');
  command.add_flag("--by-host", options->by_host, "with --cluster: watts of each host, too");
  command
      .add_option("--cluster", options->cluster, "write this cluster.json with the power in it, not the power alone")
      ->type_name("CLUSTER.json");
  command.add_option("--plot,--picture", options->plot, "picture of the fit (gnuplot), .png or .svg")
      ->type_name("FILE.svg");
  accept_json(command);
  command.add_option("-o,--output", options->output, "power as JSON (default: the standard output)")->type_name("FILE");
  command.callback([options] { run_fit_power(*options); });
}

}  // namespace hplcast::cli
