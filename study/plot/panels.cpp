#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hplcast/core/text.hpp"
#include "hplcast/study/plot.hpp"
#include "study/plot/figure.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t most_points = 4000, few_points = 500;
constexpr std::size_t colours = 8;  // classes s1 to s8

/// Range of an axis that has room beside its values.
struct Range {
  bool logarithmic = false;
  double least = HUGE_VAL, most = -HUGE_VAL;

  bool can_show(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  PlotAxis axis(const std::string& name) const {
    constexpr double room = 0.04;
    PlotAxis axis{name, least, most, {}, logarithmic};
    if (logarithmic) {
      const double factor = most > least ? std::pow(most / least, room) : 2;
      axis.min /= factor;
      axis.max *= factor;
    } else {
      const double beside = most > least ? room * (most - least) : std::max(0.1 * std::abs(most), 1e-300);
      axis.min -= least == 0 ? 0 : beside;
      axis.max += beside;
    }
    return axis;
  }
};

Range range_of_x(const PlotPanel& panel) {
  Range x{panel.log_x()};
  for (const PlotSeries& one : panel.series)
    for (const auto& value : one.values)
      if (x.can_show(value.first)) x.include(value.first);
  return x;
}

using Shown = std::vector<PlotPoint>;

/// Every so many of the points that there is a place for; lines whole.
Shown shown_of(const PlotSeries& series, const Range& x, const Range& y, std::size_t step) {
  Shown shown;
  for (std::size_t i = 0; i < series.values.size(); i += series.style == PlotSeries::Style::line ? 1 : step) {
    const auto& [at, value] = series.values[i];
    if (x.can_show(at) && y.can_show(value)) shown.push_back({at, value});
  }
  return shown;
}

/// The outline of steps whose middles are given, down to `floor` at both ends.
Shown steps_of(const Shown& middles, const Range& x, double floor) {
  const auto shown_edge = [&](double at) { return x.logarithmic ? std::clamp(at, x.least, x.most) : at; };
  Shown outline;
  double edge = middles.front().x;
  if (middles.size() > 1) edge = shown_edge(edge - (middles[1].x - middles[0].x) / 2);
  outline.push_back({edge, floor});
  for (std::size_t i = 0; i < middles.size(); ++i) {
    outline.push_back({edge, middles[i].y});
    edge = i + 1 < middles.size() ? (middles[i].x + middles[i + 1].x) / 2 : shown_edge(2 * middles[i].x - edge);
    outline.push_back({edge, middles[i].y});
  }
  outline.push_back({edge, floor});
  return outline;
}

std::optional<Figure> figure_of(const PlotPanel& panel, const std::string& id) {
  std::size_t points = 0;
  for (const PlotSeries& one : panel.series) points += one.values.size();
  Range x{panel.log_x()}, y{panel.log_y()};
  std::vector<Shown> shown;
  for (const PlotSeries& one : panel.series) {
    shown.push_back(shown_of(one, x, y, points / most_points + 1));
    for (const PlotPoint& point : shown.back()) {
      x.include(point.x);
      y.include(point.y);
    }
    const bool from_0 = panel.y_from_0 || one.style == PlotSeries::Style::steps;
    if (from_0 && !y.logarithmic && !shown.back().empty()) y.include(0);
  }
  if (x.most < x.least) return std::nullopt;
  Figure plot(id, panel.title, x.axis(panel.x_name), y.axis(panel.y_name));
  for (const double at : panel.breaks)
    if (x.can_show(at)) plot.line({{at, y.axis("").min}, {at, y.axis("").max}}, "change");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i].empty()) continue;
    const PlotSeries& one = panel.series[i];
    const std::string colour = "s" + std::to_string(i % colours + 1) + "-line";
    const bool dots = one.style == PlotSeries::Style::points;
    const std::string dot = points < few_points ? colour + " dots large" : colour + " dots";
    if (dots)
      plot.dots(shown[i], dot);
    else
      plot.line(one.style == PlotSeries::Style::line ? shown[i] : steps_of(shown[i], x, y.least), colour);
    if (!one.title.empty()) plot.legend.push_back({dots ? dot : colour, dots ? Marker::dot : Marker::line, one.title});
  }
  plot.caption = panel.note;
  return plot;
}

}  // namespace

void PlotPanel::add_diagonal(const std::string& name) {
  const Range x = range_of_x(*this);
  line(name).values = {{x.least, x.least}, {x.most, x.most}};
}

void PlotPanel::add_level(double y, const std::string& name) {
  const Range x = range_of_x(*this);
  line(name).values = {{x.least, y}, {x.most, y}};
}

void PlotPanel::add_histogram(const std::string& name, const std::vector<double>& values, double from, double to,
                              int bins) {
  const double width = (to - from) / bins;
  std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
  for (const double value : values)
    if (value >= from && value < to)
      counts[std::min(counts.size() - 1, static_cast<std::size_t>((value - from) / width))] += 1;
  PlotSeries& histogram = steps(name);
  for (std::size_t i = 0; i < counts.size(); ++i)
    histogram.add(from + (static_cast<double>(i) + 0.5) * width,
                  counts[i] / (static_cast<double>(values.size()) * width));
}

void PlotPanel::add_curve(const std::string& name, double from, double to, int count,
                          const std::function<double(double)>& function) {
  PlotSeries& curve = line(name);
  for (int i = 0; i < count; ++i) {
    const double x = from + (to - from) * i / (count - 1);
    curve.add(x, function(x));
  }
}

std::string picture_file(const Picture& picture) {
  std::vector<Figure> figures;
  for (const PlotPanel& panel : picture.panels)
    if (auto figure = figure_of(panel, "panel-" + std::to_string(figures.size() + 1)))
      figures.push_back(std::move(*figure));
  return figure_file(figures, picture.title);
}

std::string matrix_file(const std::string& title, const std::vector<std::string>& names,
                        const std::vector<std::vector<double>>& values, const std::string& unit,
                        const std::string& note) {
  const auto n = static_cast<double>(names.size());
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j)
      if (i != j && std::isfinite(values[i][j])) {
        least = std::min(least, values[i][j]);
        most = std::max(most, values[i][j]);
      }
  PlotAxis x{"to", 0, n, {}, false, false}, y{"from", 0, n, {}, false, false};
  const std::size_t every = names.size() / 32 + 1;
  for (std::size_t i = 0; i < names.size(); i += every) {
    x.ticks.push_back({static_cast<double>(i) + 0.5, std::to_string(i + 1)});
    y.ticks.push_back({n - static_cast<double>(i) - 0.5, names[i]});
  }
  Figure figure("matrix", title, x, y, {640, 640, 62, 14, 28, 50});
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == j || !std::isfinite(values[i][j])) continue;
      const double shade = most > least ? 0.08 + 0.92 * (values[i][j] - least) / (most - least) : 0.5;
      const double left = static_cast<double>(j), top = n - static_cast<double>(i);
      figure.bar({left, top - 1}, {left + 1, top}, "s1",
                 names[i] + " to " + names[j] + ": " + core::readable(values[i][j]) + " " + unit, shade);
    }
  figure.caption = "From " + core::readable(least) + " " + unit + " (light) to " + core::readable(most) + " " + unit +
                   " (dark). Columns are numbered in the order of the rows. " + note;
  return figure_file({figure});
}

}  // namespace hplcast::study
