#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "cli/support/output.hpp"
#include "cli/support/picture.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/fit/detours.hpp"

namespace hplcast::cli {

namespace {

using Style = PlotSeries::Style;

constexpr std::size_t most_points = 4000;  // more only make the file larger

std::size_t stride_of(const core::DetourTrace& trace) {
  std::size_t events = 0;
  for (const core::CoreDetours& core : trace.cores) events += core.events.size();
  return events / most_points + 1;
}

PlotPanel events_panel(const core::DetourTrace& trace) {
  PlotPanel panel{"Detours as measured", "time [s]", "duration [s]", false, true, {}, {}};
  const std::size_t stride = stride_of(trace);
  for (const core::CoreDetours& core : trace.cores) {
    PlotSeries series{
        trace.cores.size() <= 4 ? core.host + ", core " + std::to_string(core.core) : "", Style::points, {}};
    for (std::size_t i = 0; i < core.events.size(); i += stride)
      series.values.emplace_back(core.events[i].start_s - core.windows.front().start_s, core.events[i].duration_s);
    panel.series.push_back(std::move(series));
  }
  return panel;
}

/// Share of the time that detours take which last at least x.
PlotPanel cost_panel(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  std::vector<double> durations;
  for (const core::CoreDetours& core : trace.cores)
    for (const core::DetourEvent& event : core.events) durations.push_back(event.duration_s);
  std::sort(durations.rbegin(), durations.rend());
  PlotSeries measured{"measured", Style::steps, {}}, fitted{"fitted", Style::line, {}};
  const std::size_t stride = durations.size() / most_points + 1;
  double lost_s = 0;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    lost_s += durations[i];
    if (i % stride == 0) measured.values.emplace_back(durations[i], 100 * lost_s / fit.watched_s);
  }
  // Of each source the durations at equal steps of probability.
  std::vector<std::pair<double, double>> parts;
  constexpr int steps = 200;
  for (const fit::FoundDetours& found : fit.sources)
    for (int i = 0; i < steps; ++i) {
      const auto& values = found.source.values();
      const double duration_s = core::sample_s(values.duration, (i + 0.5) / steps);
      parts.emplace_back(duration_s, duration_s / values.period_s / steps);
    }
  std::sort(parts.rbegin(), parts.rend());
  double share = 0;
  for (const auto& [duration_s, part] : parts) fitted.values.emplace_back(duration_s, 100 * (share += part));
  return {"What detours of at least this duration take",
          "duration [s]",
          "time [%]",
          true,
          false,
          {std::move(measured), std::move(fitted)},
          {}};
}

PlotPanel folded_panel(const core::DetourTrace& trace, const core::DetourSource::Values& source) {
  PlotPanel panel{source.name + ": folded with " + significant(source.period_s, 6) + " s",
                  "phase",
                  "duration [s]",
                  false,
                  true,
                  {},
                  {}};
  const std::size_t stride = stride_of(trace);
  PlotSeries series{"", Style::points, {}};
  for (const core::CoreDetours& core : trace.cores)
    for (std::size_t i = 0; i < core.events.size(); i += stride) {
      const double turns = core.events[i].start_s / source.period_s;
      series.values.emplace_back(turns - std::floor(turns), core.events[i].duration_s);
    }
  panel.series.push_back(std::move(series));
  return panel;
}

/// Events over time, what detours of each length cost, and the events folded with each period that was found.
Picture detours_picture(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  constexpr std::size_t most_panels = 8;
  Picture picture{"Detours", {events_panel(trace), cost_panel(trace, fit)}};
  for (const fit::FoundDetours& found : fit.sources)
    if (std::holds_alternative<core::PeriodicDetours>(found.source.values().times) &&
        picture.panels.size() < most_panels)
      picture.panels.push_back(folded_panel(trace, found.source.values()));
  return picture;
}

using Json = nlohmann::ordered_json;

struct FitDetoursOptions {
  std::vector<std::string> files;
  std::string cluster;
  std::string plot;
  std::string output;
  core::DetourReading reading;
  fit::DetourFitOptions fit;
  std::optional<core::ClusterModel> known_cluster;  ///< content of `cluster`, if given
};

core::DetourTrace read_traces(const FitDetoursOptions& options) {
  std::vector<core::DetourTrace> traces;
  for (const std::string& file : options.files)
    core::read_file(file, [&](std::istream& in, const std::string& name) {
      traces.push_back(core::read_detour_trace(in, name, options.reading));
    });
  return core::join_traces(std::move(traces));
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return significant(1e6 * seconds, 4) + " us";
  return seconds < 1 ? significant(1e3 * seconds, 6) + " ms" : significant(seconds, 6) + " s";
}

std::string law_name(const core::DetourDuration& law) {
  return std::visit([](const auto& kind) { return std::string(std::decay_t<decltype(kind)>::kind); }, law);
}

/// "all", or "0, 4".
std::string cores_text(const std::vector<int>& cores) {
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : ", ") + std::to_string(core);
  return text.empty() ? "all" : text;
}

void print_table(std::ostream& out, const fit::DetourFit& fit) {
  TextTable table({"source", "kind", "every", "jitter", "duration", "law", "per", "cores", "events", "time"});
  for (const fit::FoundDetours& found : fit.sources) {
    const auto& values = found.source.values();
    const auto* periodic = std::get_if<core::PeriodicDetours>(&values.times);
    table.add({values.name, found.source.kind(), time_text(values.period_s),
               periodic != nullptr ? time_text(periodic->jitter_s) : "-", time_text(core::mean_s(values.duration)),
               law_name(values.duration), core::to_string(values.per), cores_text(values.cores),
               std::to_string(found.events), significant(100 * found.share, 3) + " %"});
  }
  table.write(out);
  out << "measured: " << significant(100 * fit.lost_share, 4)
      << " % of the time of the cores; these sources together: " << significant(100 * fit.explained_share, 4) << " %\n";
}

Json report_json(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  Json report = {{"format", trace.format},
                 {"cores", trace.cores.size() + trace.summaries.size()},
                 {"watched_s", fit.watched_s},
                 {"lost_share", fit.lost_share},
                 {"explained_share", fit.explained_share},
                 {"sources", Json::array()},
                 {"notes", fit.notes}};
  for (const fit::FoundDetours& found : fit.sources)
    report["sources"].push_back({{"name", found.source.values().name},
                                 {"share", found.share},
                                 {"events", found.events},
                                 {"cores", found.cores},
                                 {"period_standard_error_s", found.period_error_s}});
  return report;
}

void write_sources(const FitDetoursOptions& options, const core::DetourTrace& trace, const fit::DetourFit& fit) {
  std::vector<core::DetourSource> sources;
  for (const fit::FoundDetours& found : fit.sources) sources.push_back(found.source);
  if (options.cluster.empty()) {
    Json json = Json::parse(core::detours_json(sources));
    json["report"] = report_json(trace, fit);
    write_result(options.output, [&](std::ostream& out) { out << json.dump(2) << '\n'; });
    return;
  }
  core::ClusterModel cluster = *options.known_cluster;
  if (!cluster.detours.empty())
    std::cerr << "  note: these take the place of " << cluster.detours.size() << " sources of " << options.cluster
              << '\n';
  cluster.detours = std::move(sources);
  core::check_detour_cores(cluster.detours, cluster.hosts.values().cores);
  Json provenance = Json::parse(cluster.provenance);
  provenance["detours"] = report_json(trace, fit);
  cluster.provenance = provenance.dump();
  write_result(options.output, [&](std::ostream& out) { core::write_cluster(out, cluster); });
}

void run_fit_detours(FitDetoursOptions options) {
  require_writable(options.output);
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.cluster);
  for (const std::string& path : {options.output, options.plot}) require_other_file(path, inputs);
  if (!options.plot.empty()) require_picture(options.plot);
  require_distinct("files", options.files);
  if (!options.cluster.empty()) options.known_cluster = read_cluster_file(options.cluster);
  const core::DetourTrace trace = read_traces(options);
  const fit::DetourFit fit = fit::fit_detours(trace, options.fit);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  if (!is_quiet()) print_table(std::cerr, fit);
  for (const std::string& note : fit.notes) std::cerr << "  note: " << note << '\n';
  if (fit.lost_share > core::much_for_detours)
    std::cerr << "hplcast fit detours: warning: " << significant(100 * fit.lost_share, 3)
              << " % of the time of the cores was taken away: other programs shared them, and these sources are "
                 "theirs; measure on an idle node\n";
  if (!options.plot.empty()) write_picture(options.plot, detours_picture(trace, fit));
  write_sources(options, trace, fit);
}

}  // namespace

void setup_fit_detours(Command& fit) {
  auto options = std::make_shared<FitDetoursOptions>();
  Command& command =
      add_command(fit, "detours", "Find the sources of measured detours: periods, durations, what is hit",
                  "hplcast fit detours examples/detours/gaps.csv -o detours.json");
  command
      .add_option("files", options->files,
                  "of hplcast-measure-detours, Netgauge's selfish, FTQ or `rtla osnoise top`; one or more")
      ->required()
      ->type_name("GAPS");
  command
      .add_option("--threshold", options->reading.threshold_s, "fwq and ftq: shorter losses of a quantum do not count")
      ->transform(as_seconds())
      ->capture_default_str();
  command
      .add_option("--clock-error", options->fit.clock_error_s,
                  "between hosts: detours that are no farther apart may be at the same instant")
      ->transform(as_seconds())
      ->capture_default_str();
  command.add_option("--together", options->fit.together_s, "the same between cores of a host")
      ->transform(as_seconds())
      ->capture_default_str();
  command
      .add_option("--join", options->fit.join_s,
                  "detours of a core with less than this between them are one: work that the scheduler did in slices")
      ->transform(as_seconds())
      ->capture_default_str();
  command.add_flag("--in-kernels", options->fit.in_kernels,
                   "the kernels of the cluster were measured with these detours: their times contain them");
  command
      .add_option("--cluster", options->cluster,
                  "write this cluster.json with the sources in it, not the sources alone")
      ->type_name("CLUSTER.json");
  command.add_option("--plot,--picture", options->plot, "picture of the fit (gnuplot), .png or .svg")
      ->type_name("FILE.svg");
  accept_json(command);
  command.add_option("-o,--output", options->output, "sources as JSON (default: the standard output)")
      ->type_name("FILE");
  command.callback([options] { run_fit_detours(*options); });
}

}  // namespace hplcast::cli
