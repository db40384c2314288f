#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hplcast::study {

/// Values of one kind in a panel.
struct PlotSeries {
  enum class Style { points, line, steps };
  std::string title;  ///< in the legend; empty: not there
  Style style = Style::points;
  std::vector<std::pair<double, double>> values;  ///< x and y; not finite ones are not drawn

  void add(double x, double y) { values.emplace_back(x, y); }
};

enum class PlotScale { linear, log_x, log_y, log_both };

/// One diagram of a picture. Axis names say the unit. On logarithmic axes values up to 0 are not drawn, and so many
/// points that they only make the file larger are thinned out.
struct PlotPanel {
  std::string title, x_name, y_name;
  PlotScale scale = PlotScale::linear;
  std::deque<PlotSeries> series = {};  ///< references to its elements stay
  std::vector<double> breaks = {};     ///< vertical lines
  std::string note = {};               ///< stands below
  bool y_from_0 = false;               ///< of a linear axis

  // A new series, to be filled.
  PlotSeries& points(const std::string& name) { return add(name, PlotSeries::Style::points); }
  PlotSeries& line(const std::string& name) { return add(name, PlotSeries::Style::line); }
  PlotSeries& steps(const std::string& name) { return add(name, PlotSeries::Style::steps); }

  /// Where y is as large as the x of the series so far.
  void add_diagonal(const std::string& name);
  /// A line at y along the series so far.
  void add_level(double y, const std::string& name = "");
  /// Density of those of the values that are in [from, to), in `bins` steps.
  void add_histogram(const std::string& name, const std::vector<double>& values, double from, double to, int bins);
  /// A function at `count` places at equal distances, both ends among them.
  void add_curve(const std::string& name, double from, double to, int count,
                 const std::function<double(double)>& function);

  bool log_x() const { return scale == PlotScale::log_x || scale == PlotScale::log_both; }
  bool log_y() const { return scale == PlotScale::log_y || scale == PlotScale::log_both; }

  PlotSeries& add(const std::string& name, PlotSeries::Style style) {
    return series.emplace_back(PlotSeries{name, style, {}});
  }
};

/// Diagrams below each other under a title: a phone shows them readable.
struct Picture {
  std::string title;
  std::vector<PlotPanel> panels;
};

/// Values of all pairs of `names` (n x n, n >= 2; NaN and the diagonal are not drawn) as an SVG file of shaded squares.
std::string matrix_file(const std::string& title, const std::vector<std::string>& names,
                        const std::vector<std::vector<double>>& values, const std::string& unit,
                        const std::string& note);

/// The picture as an SVG file that needs nothing else. Panels and series without a value are left out.
std::string picture_file(const Picture& picture);

}  // namespace hplcast::study
