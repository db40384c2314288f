#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/fit/run_power.hpp"

namespace hplcast::cli {

namespace {

/// A series for each state.
template <typename IsShown, typename Place>
void add_states(const fit::HostPowerFit& fit, PlotPanel& panel, IsShown is_shown, Place place) {
  std::map<std::string, std::vector<std::pair<double, double>>> states;
  for (const fit::PowerRow& row : fit.used_rows) {
    auto& values = states[row.state];  // also of those that are not shown: a state has one colour in all panels
    if (is_shown(row)) values.emplace_back(place(row), row.power_w);
  }
  for (auto& [state, values] : states) panel.points(state).values = std::move(values);
}

PlotPanel states_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power of a host, a colour per state of its cores", "active cores", "power [W]"};
  add_states(
      fit, panel, [](const auto&) { return true; }, [](const auto& row) { return row.active_cores; });
  return panel;
}

PlotPanel residuals_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Measured over fitted power: good if along the line", "fitted [W]", "measured [W]"};
  PlotSeries& pieces = panel.points("pieces");
  for (std::size_t i = 0; i < fit.used_rows.size(); ++i)
    pieces.add(fit.used_rows[i].power_w - fit.residuals_w[i], fit.used_rows[i].power_w);
  panel.add_diagonal("equal");
  return panel;
}

PlotPanel frequency_panel(const fit::HostPowerFit& fit) {
  PlotPanel panel{"Power over the frequency, all cores active", "frequency [GHz]", "power [W]"};
  add_states(
      fit, panel, [](const auto& row) { return row.active_cores == row.cores && row.frequency_hz > 0; },
      [](const auto& row) { return row.frequency_hz / 1e9; });
  return panel;
}

/// Power over the active cores of each state, as measured and as fitted, and the residuals.
std::string power_picture(const fit::PowerFit& fit) {
  study::Picture picture{"Power", {states_panel(fit.all), residuals_panel(fit.all)}};
  if (fit.model.values().frequency) picture.panels.push_back(frequency_panel(fit.all));
  return picture_file(picture);
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

}  // namespace

void print_power_fit(std::ostream& out, const fit::PowerFit& fit, const fit::PowerRows& rows) {
  out << "power of a host: " << core::comma_separated(rows.sensors) << '\n';
  print_fit(out, fit.all);
  for (const fit::HostPowerFit& host : fit.hosts) print_fit(out, host);
}

namespace {

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
  fit::RunPowerOptions runs;
};

/// `set_power` puts the model into the cluster, if there is one.
template <typename SetPower>
void write_power(const FitPowerOptions& options, std::optional<core::ClusterModel> cluster,
                 const core::PowerModel& model, const std::string& report, const SetPower& set_power) {
  if (cluster) {
    if (cluster->power) std::cerr << "  note: this takes the place of the power of " << options.cluster << '\n';
    set_power(*cluster);
    return write_cluster_file(options.output, *cluster);
  }
  Json json = core::parse_json<Json>(core::power_json(model));
  json["report"] = core::parse_json<Json>(report);
  write_result(options.output, json);
}

/// Samples, or whole runs.
struct PowerInput {
  std::vector<core::PowerSample> samples;
  std::vector<fit::RunEnergy> runs;
};

PowerInput read_power_input(const FitPowerOptions& options) {
  PowerInput input;
  for (const std::string& file : options.files)
    read_from(file, [&](std::istream& in, const std::string& name) {
      std::istringstream text(
          core::read_text(in, name, "expected samples of hplcast-measure-power, or a table of runs"));
      if (fit::is_run_table(core::csv_header(text.str())))
        core::append(input.runs, fit::read_run_energies(text, name));
      else
        core::append(input.samples, core::read_power_samples(text, name, options.application, options.pstates));
      return true;
    });
  if (input.runs.empty()) return input;
  if (!input.samples.empty())
    throw core::UsageError("files: samples and tables of runs; expected either of them: they are fitted apart");
  const bool has_states = !options.application.empty() || !options.pstates.empty();
  const bool has_degree = options.fit.degree != fit::PowerFitOptions().degree;
  if (options.by_host || !options.sensors.empty() || !options.frequency.empty() || has_states || has_degree)
    throw core::UsageError(
        "--by-host, --sensors, --frequency, --degree, --application and --pstates are of samples; the files are tables "
        "of runs");
  return input;
}

std::string estimate_text(const fit::Estimate& estimate) {
  return significant(estimate.value) + " (+- " + significant(estimate.error, 2) + ")";
}

void print_run_fit(std::ostream& out, const fit::RunPowerFit& fit) {
  out << "power of a host, from " << fit.runs.size() << " configurations: mean error of the energy "
      << core::percent(fit.mean_abs_error()) << '\n';
  TextTable table({"part", "watts, joules"});
  table.add({"idle [W]", estimate_text(fit.idle_w)});
  table.add({"awake [W]", estimate_text(fit.awake_w)});
  table.add({"a computing core [W]", estimate_text(fit.core_w)});
  table.add({"a waiting core [W]", estimate_text(fit.waiting_w)});
  for (const auto& [campaign, joules] : fit.start_j)
    table.add({"start and end" + (campaign.empty() ? "" : ", " + campaign) + " [J]", estimate_text(joules)});
  if (fit.setup_factor.value != 1) table.add({"factor of setup_s", estimate_text(fit.setup_factor)});
  table.write(out);
}

std::string run_power_picture(const fit::RunPowerFit& fit) {
  PlotPanel panel{"Measured over fitted energy: good if along the line", "fitted [J]", "measured [J]"};
  PlotSeries& runs = panel.points("configurations");
  for (const fit::FittedRun& one : fit.runs) runs.add(one.predicted_j, one.run.energy_j);
  panel.add_diagonal("equal");
  return picture_file(study::Picture{"Energy of runs", {panel}});
}

void fit_power_of_runs(const FitPowerOptions& options, std::optional<core::ClusterModel> cluster,
                       const std::vector<fit::RunEnergy>& runs) {
  const fit::RunPowerFit fit = fit::fit_run_power(runs, options.runs);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  if (!is_quiet()) print_run_fit(std::cerr, fit);
  warn_of_flags(fit.flags);
  if (!options.plot.empty()) write_picture(options.plot, run_power_picture(fit));
  write_power(options, std::move(cluster), fit.model, fit::run_power_report_json(fit),
              [&](core::ClusterModel& with_power) { fit::set_power(fit, with_power); });
}

void run_fit_power(FitPowerOptions options) {
  require_distinct("files", options.files);
  if (options.by_host && options.cluster.empty())
    throw core::UsageError("--by-host needs --cluster: its hosts are those that the watts are of");
  if (!options.frequency.empty()) options.fit.frequency_hz = core::parse_hertz(options.frequency);
  std::optional<core::ClusterModel> cluster;
  if (!options.cluster.empty()) cluster = read_cluster_file(options.cluster);
  if (options.by_host) options.fit.hosts = &cluster->hosts;
  const PowerInput input = read_power_input(options);
  if (!input.runs.empty()) return fit_power_of_runs(options, std::move(cluster), input.runs);
  if (options.runs.fit_setup) throw core::UsageError("--fit-setup is of tables of runs; the files are samples");
  const fit::PowerRows rows = fit::power_rows(input.samples, options.sensors);
  const fit::PowerFit fit = fit::fit_power(rows, options.fit);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  if (!is_quiet()) print_power_fit(std::cerr, fit, rows);
  warn_of_flags(fit.flags);
  if (!cluster) {
    core::ClusterModel alone;
    core::Hosts::Values host = alone.hosts.values();
    for (const core::PowerSample& sample : input.samples) host.cores = std::max(host.cores, sample.cores);
    alone.hosts = core::Hosts::make(std::move(host));
    alone.power = fit.model;
    warn_of_implausible(alone, "/power");
  }
  if (!options.plot.empty()) write_picture(options.plot, power_picture(fit));
  write_power(options, std::move(cluster), fit.model, fit::power_report_json(fit, rows),
              [&](core::ClusterModel& with_power) { fit::set_power(fit, rows, with_power); });
}

}  // namespace

void setup_fit_power(Command& fit) {
  Command& command = add_command(fit, "power", "Fit what hosts draw by what their cores do, to measured samples",
                                 "hplcast fit power examples/power/samples.csv -o power.json");
  auto& options = command.runs<FitPowerOptions>(run_fit_power);
  command.add_option(
      "files", options.files,
      "of hplcast-measure-power, a published table (watt_idle, watt_one_core, watt_all_cores), or tables "
      "of whole runs (hosts, ranks_per_host, time_s, energy_j)",
      required, reads("SAMPLES.csv"));
  command.add_option("--sensors", options.sensors,
                     "sensors that add up to the power of a host (default: one of the whole host, else packages and "
                     "memories)",
                     by_commas);
  command.add_option("--degree", options.fit.degree, "of the polynomials in the frequency", between(0, 2),
                     with_default);
  command.add_option("--frequency", options.frequency,
                     "of the kernels of the cluster (default: the highest of the samples)", of_type("GHz"));
  command.add_option("--application", options.application, "published tables: the application that is taken");
  command.add_option("--pstates", options.pstates, "published tables: frequencies of the states 0, 1, ...", by_commas);
  command.add_flag("--fit-setup", options.runs.fit_setup,
                   "tables of runs: setup_s is that of other runs: fit a factor for it, too");
  command.add_flag("--by-host", options.by_host, "with --cluster: watts of each host, too");
  command.add_option("--cluster", options.cluster, "write this cluster.json with the power in it, not the power alone",
                     reads("CLUSTER.json"));
  command.add_option("--plot,--picture", options.plot, "picture of the fit, .png or .svg", draws("FILE.svg"));
  command.add_json_output(options.output, "power as JSON");
}

}  // namespace hplcast::cli
