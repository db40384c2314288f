#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hplcast::study {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

/// An axis: its name with the unit, and its range (min < max).
struct PlotAxis {
  std::string label;
  double min = 0;
  double max = 1;
  std::vector<std::pair<double, std::string>> ticks;  ///< empty: round numbers
};

enum class Marker { circle, square, triangle, diamond };

/// Round numbers (1, 2 or 5 times a power of ten apart) inside [min, max]: about `count` of them.
std::vector<double> nice_ticks(double min, double max, int count);

/// A plot as SVG to stand inside an HTML page. Colours come from the page: every element has a class (grid, axis, or
/// the one given), so that light and dark are decided there. Marks outside of the axes are clipped.
class SvgPlot {
 public:
  static constexpr double width = 420;  ///< of the viewBox
  static constexpr double height = 320;

  /// `id` names the plot within its page, `title` is what is read aloud instead of it.
  SvgPlot(std::string id, std::string title, PlotAxis x, PlotAxis y);

  void line(const std::vector<PlotPoint>& points, const std::string& css_class);
  void area(const std::vector<PlotPoint>& outline, const std::string& css_class);
  /// A mark with a text that is shown when the pointer is over it.
  void marker(PlotPoint at, Marker shape, const std::string& css_class, const std::string& tooltip);
  /// A text at a point, that ends there (`end`), starts or is centred (`middle`).
  void text(PlotPoint at, const std::string& anchor, const std::string& content);

  std::string svg() const;

 private:
  double to_x(double value) const;
  double to_y(double value) const;
  std::string path(const std::vector<PlotPoint>& points) const;
  std::string axes() const;

  std::string id_;
  std::string title_;
  PlotAxis x_;
  PlotAxis y_;
  std::string marks_;
};

/// The outline of a marker as an SVG path around (0, 0), for plots and legends.
std::string marker_path(Marker shape);

}  // namespace hplcast::study
