#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "cli/fit/power_report.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "cli/support/picture.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/units.hpp"
#include "hplcast/fit/power_fit.hpp"

namespace hplcast::cli {

/// Power over the active cores of each state, as measured and as fitted, and the residuals.
Picture power_picture(const fit::PowerFit& fit);

namespace {

using Style = PlotSeries::Style;

double fitted_w(const fit::HostPowerFit& fit, std::size_t row) {
  return fit.used_rows[row].power_w - fit.residuals_w[row];
}

PlotPanel states_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power of a host", "active cores", "power [W]", false, false, {}, {}};
  std::map<std::string, PlotSeries> states;
  for (const fit::PowerRow& row : fit.used_rows) {
    PlotSeries& series = states[row.state];
    series.title = row.state;
    series.values.emplace_back(row.active_cores, row.power_w);
  }
  for (auto& [state, series] : states) panel.series.push_back(std::move(series));
  return panel;
}

PlotPanel residuals_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Measured over fitted power", "fitted [W]", "measured [W]", false, false, {}, {}};
  PlotSeries points{"pieces", Style::points, {}}, line{"equal", Style::line, {}};
  for (std::size_t i = 0; i < fit.used_rows.size(); ++i) {
    points.values.emplace_back(fitted_w(fit, i), fit.used_rows[i].power_w);
    line.values.emplace_back(fitted_w(fit, i), fitted_w(fit, i));
  }
  panel.series = {std::move(points), std::move(line)};
  return panel;
}

PlotPanel frequency_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power over the frequency, all cores active", "frequency [GHz]", "power [W]", false, false, {}, {}};
  std::map<std::string, PlotSeries> states;
  for (const fit::PowerRow& row : fit.used_rows) {
    if (row.active_cores != row.cores || !(row.frequency_hz > 0)) continue;
    PlotSeries& series = states[row.state];
    series.title = row.state;
    series.values.emplace_back(row.frequency_hz / 1e9, row.power_w);
  }
  for (auto& [state, series] : states) panel.series.push_back(std::move(series));
  return panel;
}

}  // namespace

Picture power_picture(const fit::PowerFit& fit) {
  Picture picture{"Power", {states_panel(fit.all), residuals_panel(fit.all)}};
  if (fit.model.values().frequency) picture.panels.push_back(frequency_panel(fit.all));
  return picture;
}

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
    for (const std::string& hz : options.pstates) which.states_hz.push_back(core::parse_hertz(hz));
    samples = core::read_watt_per_state(text, name, which);
  });
  return samples;
}

void write_model(const FitPowerOptions& options, std::optional<core::ClusterModel> cluster, const fit::PowerFit& fit,
                 const std::string& report) {
  if (!cluster) {
    Json json = Json::parse(core::power_json(fit.model));
    json["report"] = Json::parse(report);
    write_result(options.output, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
    return;
  }
  if (cluster->power) std::cerr << "  note: this takes the place of the power of " << options.cluster << '\n';
  cluster->power = fit.model;
  Json provenance = Json::parse(cluster->provenance);
  provenance["power"] = Json::parse(report);
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
  if (!options.frequency.empty()) options.fit.frequency_hz = core::parse_hertz(options.frequency);
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
  if (!is_quiet()) print_power_fit(std::cerr, fit, rows);
  for (const core::QualityFlag& flag : fit.flags)
    std::cerr << "hplcast fit power: warning: " << flag.subject << ": " << flag.flag << ": " << flag.detail << '\n';
  if (!options.plot.empty()) write_picture(options.plot, power_picture(fit));
  write_model(options, std::move(cluster), fit, power_report_json(fit, rows));
}

}  // namespace

void setup_fit_power(Command& fit) {
  auto options = std::make_shared<FitPowerOptions>();
  Command& command = add_command(fit, "power", "Fit what hosts draw by what their cores do, to measured samples",
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
      ->check(between(0, 2))
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
