#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/fit/fit_pictures.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/detour_trace.hpp"
#include "hplcast/fit/detours.hpp"

namespace hplcast::cli {

namespace {

PlotPanel events_panel(const core::DetourTrace& trace) {
  PlotPanel panel{"Detours as measured: each dot is one", "time [s]", "duration [s]", PlotScale::log_y};
  for (const core::CoreDetours& core : trace.cores) {
    PlotSeries& series = panel.points(trace.cores.size() <= 4 ? core.host + ", core " + std::to_string(core.core) : "");
    for (const core::DetourEvent& event : core.events)
      series.add(event.start_s - core.windows.front().start_s, event.duration_s);
  }
  return panel;
}

/// Adds the shares of the time [%] that pieces of each duration take, from the longest on.
void add_up(std::vector<std::pair<double, double>> pieces, PlotSeries& series) {
  std::sort(pieces.rbegin(), pieces.rend());
  double share = 0;
  for (const auto& [duration_s, part] : pieces) series.add(duration_s, 100 * (share += part));
}

/// Share of the time that detours take which last at least x.
PlotPanel cost_panel(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  PlotPanel panel{"Time lost to detours of at least this duration: good if both agree", "duration [s]", "lost time [%]",
                  PlotScale::log_x};
  std::vector<std::pair<double, double>> measured, fitted;
  for (const core::CoreDetours& core : trace.cores)
    for (const core::DetourEvent& event : core.events)
      measured.emplace_back(event.duration_s, event.duration_s / fit.watched_s);
  // Durations of each source at equal steps of probability.
  constexpr int steps = 200;
  for (const fit::FoundDetours& found : fit.sources) {
    const auto& values = found.source.values();
    const double hit = found.source.mean_share(fit.core_numbers) / found.source.share();  // of the cores
    for (int i = 0; i < steps; ++i) {
      const double duration_s = core::sample_s(values.duration, (i + 0.5) / steps);
      if (duration_s > 0) fitted.emplace_back(duration_s, hit * duration_s / values.period_s / steps);
    }
  }
  add_up(std::move(measured), panel.steps("measured"));
  add_up(std::move(fitted), panel.line("fitted"));
  return panel;
}

PlotPanel folded_panel(const core::DetourTrace& trace, const core::DetourSource::Values& source) {
  PlotPanel panel{source.name + ", folded with its period of " + significant(source.period_s, 6) + " s",
                  "part of the period", "duration [s]", PlotScale::log_y};
  panel.note = "Its own detours stand above each other; those of other sources are spread.";
  PlotSeries& series = panel.points("");
  for (const core::CoreDetours& core : trace.cores)
    for (const core::DetourEvent& event : core.events) {
      const double turns = event.start_s / source.period_s;
      series.add(turns - std::floor(turns), event.duration_s);
    }
  return panel;
}

/// Events over time, what detours of each length cost, and the events folded with each period that was found.
std::string detours_picture(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  constexpr std::size_t most_panels = 8;
  study::Picture picture{"Detours", {events_panel(trace), cost_panel(trace, fit)}};
  for (const fit::FoundDetours& found : fit.sources)
    if (std::holds_alternative<core::PeriodicDetours>(found.source.values().times) &&
        picture.panels.size() < most_panels)
      picture.panels.push_back(folded_panel(trace, found.source.values()));
  return picture_file(picture);
}

struct FitDetoursOptions {
  std::vector<std::string> files, beside;
  std::string cluster;
  std::string plot;
  std::string output;
  core::DetourReading reading;
  fit::DetourFitOptions fit;
};

std::string detour_time_text(double seconds) {
  if (seconds < 1e-3) return significant(1e6 * seconds, 4) + " us";
  return seconds < 1 ? significant(1e3 * seconds, 6) + " ms" : significant(seconds, 6) + " s";
}

void print_table(std::ostream& out, const fit::DetourFit& fit) {
  TextTable table({"source", "kind", "every", "jitter", "duration", "law", "per", "cores", "events", "time"});
  for (const fit::FoundDetours& found : fit.sources) {
    const auto& values = found.source.values();
    const auto* periodic = std::get_if<core::PeriodicDetours>(&values.times);
    const std::string cores = core::joined(values.cores, ", ", [](int core) { return std::to_string(core); });
    const auto law = [](const auto& kind) { return std::string(std::decay_t<decltype(kind)>::kind); };
    table.add({values.name, found.source.kind(), detour_time_text(values.period_s),
               periodic != nullptr ? detour_time_text(periodic->jitter_s) : "-",
               detour_time_text(core::mean_s(values.duration)), std::visit(law, values.duration),
               core::to_string(values.per), cores.empty() ? "all" : cores, std::to_string(found.events),
               significant(100 * found.share, 3) + " %"});
  }
  table.write(out);
  out << "measured: " << significant(100 * fit.lost_share, 4)
      << " % of the time of the cores; these sources together: " << significant(100 * fit.explained_share, 4) << " %\n";
}

Json report_json(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  Json report = {{"format", trace.format}, {"cores", trace.cores.size() + trace.summaries.size()}};
  report.update(HPLCAST_JSON(fit, watched_s, lost_share, explained_share));
  Json& sources = report["sources"] = Json::array();
  for (const fit::FoundDetours& found : fit.sources) {
    Json& source = sources.emplace_back(Json{{"name", found.source.values().name}});
    source.update(HPLCAST_JSON(found, share, events, cores, occupancy));
    source["period_standard_error_s"] = found.period_error_s;
  }
  report["notes"] = fit.notes;
  return report;
}

/// The sources alone, or in their cluster, if it is given.
void write_sources(const FitDetoursOptions& options, std::optional<core::ClusterModel> cluster,
                   const core::DetourTrace& trace, const fit::DetourFit& fit) {
  std::vector<core::DetourSource> sources = core::mapped(fit.sources, &fit::FoundDetours::source);
  if (!cluster) {
    Json json = core::parse_json<Json>(core::detours_json(sources));
    json["report"] = report_json(trace, fit);
    return write_result(options.output, json);
  }
  if (!cluster->detours.empty())
    std::cerr << "  note: these take the place of " << cluster->detours.size() << " sources of " << options.cluster
              << '\n';
  cluster->detours = std::move(sources);
  core::check_detour_cores(cluster->detours, cluster->hosts.most_cores());
  Json provenance = core::parse_json<Json>(cluster->provenance);
  provenance["detours"] = report_json(trace, fit);
  cluster->provenance = core::json_text(provenance);
  write_cluster_file(options.output, *cluster);
}

void run_fit_detours(const FitDetoursOptions& options) {
  std::vector<std::string> all = options.files;
  core::append(all, options.beside);
  require_distinct("files", all);
  std::optional<core::ClusterModel> cluster;
  if (!options.cluster.empty()) cluster = read_cluster_file(options.cluster);
  const auto read = [&](const auto& file) { return read_from(file, core::read_detour_trace, options.reading); };
  const core::DetourTrace trace = core::join_traces(core::mapped(options.files, read));
  const core::DetourTrace beside = core::join_traces(core::mapped(options.beside, read));
  const fit::DetourFit fit = fit::fit_detours(trace, options.fit, beside);
  if (!fit.ok) throw core::Error(core::ExitCode::no_acceptable_fit, "no acceptable fit: " + fit.reason);
  if (!is_quiet()) print_table(std::cerr, fit);
  if (!options.beside.empty())  // a pattern of the shell behind --beside is its first file, and others of FILES
    tell(core::comma_separated(options.files) + ", beside " + core::comma_separated(options.beside));
  for (const std::string& note : fit.notes) std::cerr << "  note: " << note << '\n';
  if (fit.lost_share > core::much_for_detours)
    warn(significant(100 * fit.lost_share, 3) +
         " % of the time of the cores was taken away: other programs shared them, and these sources are theirs; "
         "measure on an idle node");
  if (fit.too_much)
    warn("these sources together take " + significant(100 * fit.explained_share, 3) + " % of the time, " +
         significant(fit.explained_share / fit.lost_share, 3) +
         " times what was measured: predictions with them will be too slow (notes above; --plot shows which)");
  if (!options.plot.empty()) write_picture(options.plot, detours_picture(trace, fit));
  write_sources(options, std::move(cluster), trace, fit);
}

}  // namespace

void setup_fit_detours(Command& fit) {
  Command& command =
      add_command(fit, "detours", "Find the sources of measured detours: periods, durations, what is hit",
                  "hplcast fit detours examples/detours/gaps.csv -o detours.json");
  auto& options = command.runs<FitDetoursOptions>(run_fit_detours);
  command.add_option("files", options.files,
                     "of hplcast-measure-detours, Netgauge's selfish, FTQ or `rtla osnoise top`; one or more", required,
                     reads("GAPS"));
  command.add_option("--threshold", options.reading.threshold_s,
                     "fwq and ftq: shorter losses of a quantum do not count", as_seconds, with_default);
  command.add_option("--clock-error", options.fit.clock_error_s,
                     "between hosts: detours that are no farther apart may be at the same instant", as_seconds,
                     with_default);
  command.add_option("--together", options.fit.together_s, "the same between cores of a host", as_seconds,
                     with_default);
  command.add_option(
      "--join", options.fit.join_s,
      "detours of a core with less than this between them are one: work that the scheduler did in slices", as_seconds,
      with_default);
  command.add_option("--beside", options.beside,
                     "of the same cores, watched in turns with FILES (without an agent, say): what takes as much "
                     "time of both is fitted from both; again for each file",
                     reads("FILE"));
  command.add_flag("--in-kernels", options.fit.in_kernels,
                   "the kernels of the cluster were measured with these detours: their times contain them");
  command.add_option("--cluster", options.cluster,
                     "write this cluster.json with the sources in it, not the sources alone", reads("CLUSTER.json"));
  command.add_option("--plot,--picture", options.plot, "picture of the fit, .png or .svg", draws("FILE.svg"));
  command.add_json_output(options.output, "sources as JSON");
}

}  // namespace hplcast::cli
