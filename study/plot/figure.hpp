#pragma once

#include <string>
#include <vector>

namespace hplcast::study {

struct PlotPoint {
  double x = 0;
  double y = 0;
};

/// A mark of an axis with its name, which may lead to a page.
struct PlotTick {
  double at = 0;
  std::string name;
  std::string link = {};
};

/// An axis: its name with the unit, and what is at its begin (left, bottom) and end.
struct PlotAxis {
  std::string label;
  double min = 0;
  double max = 1;
  std::vector<PlotTick> ticks = {};  ///< empty: round numbers
  bool logarithmic = false;          ///< then min and max are above 0
  bool has_grid = true;
};

/// A plot and the room around its axes, in the units of the viewBox. A phone shows it at about 0.85 of its size.
struct PlotSize {
  double width = 420, height = 320;
  double left = 62, right = 14;  ///< left: at least; as much more as the names of the y axis need
  double top = 28;               ///< the name of the y axis stands there: turned by 90 degrees, it is hard to read
  double bottom = 50;
};

enum class Marker { circle, square, triangle, diamond, cross, line, dot };

/// Round numbers (1, 2 or 5 times a power of ten apart) inside [min, max]: about `count` of them.
std::vector<double> nice_ticks(double min, double max, int count);

/// Meaning of a kind of mark in a figure.
struct LegendEntry {
  std::string css_class;
  Marker marker = Marker::circle;
  std::string name;
};

/// A plot as SVG with its words: part of a page, or a file of its own. Colours come from the page: every element has a
/// class (grid, axis, or the one given), so that light and dark are decided there. Marks outside of the axes are
/// clipped.
class Figure {
 public:
  std::string heading;
  std::vector<LegendEntry> legend;
  std::string caption;
  std::string style;  ///< of the plot, in a page

  /// `id` names it within its page, and its file: letters, digits, "-". `title` is what is read aloud instead of it,
  /// and the heading where nothing else is.
  Figure(std::string id, std::string title, PlotAxis x, PlotAxis y, PlotSize size = {});

  /// A line; `tooltip` is shown when the pointer is over it.
  void line(const std::vector<PlotPoint>& points, const std::string& css_class, const std::string& tooltip = "");
  void area(const std::vector<PlotPoint>& outline, const std::string& css_class);
  /// A rectangle between two corners. `opacity`: of what it is filled with.
  void bar(PlotPoint from, PlotPoint to, const std::string& css_class, const std::string& tooltip = "",
           double opacity = 1);
  /// Many points as one element, each as round as its class has it, or `length` long to the right.
  void dots(const std::vector<PlotPoint>& points, const std::string& css_class, int length = 0);
  /// A mark with a text that is shown when the pointer is over it.
  void marker(PlotPoint at, Marker shape, const std::string& css_class, const std::string& tooltip);
  /// A text around a point, or with its "start" or "end" there.
  void text(PlotPoint at, const std::string& css_class, const std::string& content,
            const std::string& anchor = "middle");

  const std::string& id() const { return id_; }
  const PlotSize& size() const { return size_; }
  /// An <svg> with these attributes, else without width and height.
  std::string svg(const std::string& attributes = "") const;
  /// As wide as the page, on a phone, too: words, lines and dots keep their size, and only distances along x change.
  /// Not for marker() and text(); the x axis needs names of its own, which a phone shows the first and the last of.
  std::string stretched() const;

 private:
  double to_x(double value) const;
  double to_y(double value) const;
  std::string path(const std::vector<PlotPoint>& points) const;
  void shape(const std::string& css_class, const std::string& d, const std::string& tooltip, const std::string& more);
  std::string axes() const;

  std::string id_;
  std::string title_;
  PlotAxis x_;
  PlotAxis y_;
  PlotSize size_;
  std::string marks_;
};

/// A part of a bar, from one value of the axis to another.
struct BarPart {
  double from = 0, to = 0;
  std::string css_class;
  std::string tooltip = {};
  std::string text = {};  ///< in its middle, where it fits
};

/// A bar with its name above.
struct BarRow {
  std::string name;
  std::vector<BarPart> parts;
  std::string value = {};  ///< a text beside the end of the last part
};

/// Bars below each other. `joined`: lines lead from the end of each to the next.
Figure bar_figure(const std::string& id, const std::string& title, const PlotAxis& x, const std::vector<BarRow>& rows,
                  bool joined = false);

/// As a part of a page.
std::string figures_html(const std::vector<Figure>& figures);
std::string legend_html(const std::vector<LegendEntry>& legend);

/// As an SVG file: figures below each other with titles, legends, captions and colours (the light ones), nothing from
/// outside.
std::string figure_file(const std::vector<Figure>& figures, const std::string& title = "");

}  // namespace hplcast::study
