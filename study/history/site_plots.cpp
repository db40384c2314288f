#include <algorithm>
#include <cmath>

#include "study/history/site.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

const char* to_string(CellKind kind) {
  constexpr const char* names[] = {"untested", "inside", "below", "above", "outlier"};  // in the order of CellKind
  return names[static_cast<std::size_t>(kind)];
}

namespace {

constexpr double plot_width = 720;

double seconds(std::int64_t time_s) {
  return static_cast<double>(time_s);
}

/// Four dates below the axis.
PlotAxis time_axis(const TimeRange& time) {
  PlotAxis axis{"", seconds(time.begin_s), seconds(std::max(time.end_s, time.begin_s + 1)), {}, false, false};
  for (int i = 0; i <= 3; ++i) {
    const std::int64_t time_s = time.begin_s + (time.end_s - time.begin_s) * i / 3;
    axis.ticks.push_back({seconds(time_s), date_text(time_s)});
  }
  return axis;
}

void draw_changes(Figure& plot, const std::vector<Change>& changes, const TimeRange& time, const PlotAxis& y) {
  for (const Change& change : changes) {
    if (change.time_s < time.begin_s || change.time_s > time.end_s) continue;
    plot.line({{seconds(change.time_s), y.min}, {seconds(change.time_s), y.max}}, "change",
              date_text(change.time_s) + " " + change.type + ": " + change.description);
  }
}

/// Shows all values but wild outliers.
PlotAxis value_axis(const ShownSeries& series, const std::string& label) {
  std::vector<double> values;
  for (std::size_t i = 0; i < series.kinds.size(); ++i)
    if (series.kinds[i] != CellKind::outlier) values.push_back(series.history->value[i]);
  if (values.empty()) values = series.history->value;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double margin = std::max((*high - *low) * 0.15, 1e-3 * std::abs(*high) + 1e-300);
  PlotAxis axis{label, *low - margin, *high + margin};
  for (const double at : {axis.min, (axis.min + axis.max) / 2, axis.max})
    axis.ticks.push_back({at, core::printed("%.4g", at)});
  return axis;
}

/// Long histories are shown from some time on.
std::size_t first_shown(const ShownSeries& series, const TimeRange& time) {
  const auto& times = series.history->time_s;
  return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time.begin_s) - times.begin());
}

/// The region of each run as an area, interrupted where nothing was tested.
void draw_band(Figure& plot, const ShownSeries& series, std::size_t i, const PlotAxis& y) {
  while (i < series.own.size()) {
    std::vector<PlotPoint> outline, lower;
    for (; i < series.own.size() && series.own[i].region != fit::Region::untested; ++i) {
      const fit::RunScore& score = series.own[i];
      const double at = seconds(series.history->time_s[i]);
      outline.push_back({at, std::clamp(score.expected + score.half_width, y.min, y.max)});
      lower.push_back({at, std::clamp(score.expected - score.half_width, y.min, y.max)});
    }
    outline.insert(outline.end(), lower.rbegin(), lower.rend());
    if (!outline.empty()) plot.area(outline, "band");
    ++i;
  }
}

void draw_values(Figure& plot, const ShownSeries& series, std::size_t first, const PlotAxis& y) {
  std::vector<PlotPoint> plain;
  for (std::size_t i = first; i < series.kinds.size(); ++i) {
    const double value = series.history->value[i];
    const PlotPoint at{seconds(series.history->time_s[i]), std::clamp(value, y.min, y.max)};
    const CellKind kind = series.kinds[i];
    if (kind == CellKind::inside || kind == CellKind::untested) {
      plain.push_back(at);
      continue;
    }
    plot.marker(at, kind == CellKind::outlier ? Marker::cross : Marker::circle, to_string(kind),
                date_text(series.history->time_s[i]) + ": " + core::printed("%.4g", value));
  }
  plot.dots(plain, "s6-line dots");
}

}  // namespace

std::string evolution_svg(const std::string& id, const ShownSeries& series, const TimeRange& time,
                          const std::vector<Change>& changes, const std::string& title, const std::string& unit) {
  const PlotAxis y = value_axis(series, title + ", " + unit);
  Figure plot(id, title, time_axis(time), y, {plot_width, 210, 60, 40, 30, 24});
  const std::size_t first = first_shown(series, time);
  draw_band(plot, series, first, y);
  draw_changes(plot, changes, time, y);
  draw_values(plot, series, first, y);
  return plot.svg();
}

std::string overview_svg(const std::vector<OverviewRow>& rows, const TimeRange& time,
                         const std::vector<Change>& changes) {
  constexpr double row_height = 15, top = 6, bottom = 24;
  constexpr int cell = 4;
  const auto height = static_cast<double>(rows.size());
  PlotAxis cpus{"", height - 0.5, -0.5, {}, false, false};  // the first above
  for (const OverviewRow& row : rows)
    cpus.ticks.push_back({static_cast<double>(cpus.ticks.size()), to_string(row.series->place), row.link});
  Figure plot("verdicts", "verdicts of all CPUs over time", time_axis(time), cpus,
              {plot_width, top + row_height * height + bottom, 130, 40, top, bottom});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Cells of one kind are one element: hundreds of CPUs and years must fit a page.
    std::vector<PlotPoint> cells[5];
    const ShownSeries& series = *rows[i].series;
    for (std::size_t run = 0; run < series.kinds.size(); ++run)
      cells[static_cast<std::size_t>(series.kinds[run])].push_back(
          {seconds(series.history->time_s[run]), static_cast<double>(i)});
    for (const CellKind kind :
         {CellKind::untested, CellKind::inside, CellKind::outlier, CellKind::above, CellKind::below})
      plot.dots(cells[static_cast<std::size_t>(kind)], std::string("verdict ") + to_string(kind), cell);
  }
  draw_changes(plot, changes, time, cpus);
  return plot.svg();
}

std::string histogram_svg(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) return "";
  constexpr int bins = 16;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double begin = *low, span = std::max(*high - *low, 1e-9 * std::abs(*high) + 1e-300);
  int counts[bins] = {};
  for (const double value : values) ++counts[std::min(bins - 1, static_cast<int>(bins * (value - begin) / span))];
  Figure plot("newest", "distribution of the newest runs", {unit, begin, begin + span},
              {"CPUs", 0, 1.0 * *std::max_element(counts, counts + bins)}, {plot_width, 190, 60, 40, 22, 44});
  for (int i = 0; i < bins; ++i)
    plot.bar({begin + (i + 0.04) * span / bins, 0}, {begin + (i + 0.96) * span / bins, 1.0 * counts[i]}, "inside",
             std::to_string(counts[i]));
  return plot.svg();
}

}  // namespace hplcast::study
