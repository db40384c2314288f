#include "detours_picture.hpp"

#include <algorithm>
#include <cmath>

#include "output.hpp"

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

}  // namespace

Picture detours_picture(const core::DetourTrace& trace, const fit::DetourFit& fit) {
  constexpr std::size_t most_panels = 8;
  Picture picture{"Detours", {events_panel(trace), cost_panel(trace, fit)}};
  for (const fit::FoundDetours& found : fit.sources)
    if (std::holds_alternative<core::PeriodicDetours>(found.source.values().times) &&
        picture.panels.size() < most_panels)
      picture.panels.push_back(folded_panel(trace, found.source.values()));
  return picture;
}

}  // namespace hplcast::cli
