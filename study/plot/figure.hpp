#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hplcast::study {

/// A colour of reports: a variable, so that the dark ones replace the light ones in one place.
struct Colour {
  const char* name;
  const char* light;
  const char* dark;
};

/// Blue and orange keep apart in every common kind of colour blindness; so do the colours of series (Okabe and Ito
/// 2008, darkened to be read on white), which differ in their marks, too.
inline constexpr Colour palette[] = {
    {"page", "#fbfbf9", "#191918"},      {"ink", "#1b1b19", "#eeeeea"},  {"soft", "#5b5b56", "#adada6"},
    {"line", "#dcdcd6", "#3b3b38"},      {"card", "#ffffff", "#222220"}, {"measured", "#2a6fc9", "#5b9bea"},
    {"predicted", "#d9621e", "#f08a4b"}, {"band", "#dfe9f7", "#27313f"}, {"s1", "#d9621e", "#f08a4b"},
    {"s2", "#2a6fc9", "#5b9bea"},        {"s3", "#00805c", "#2fb38c"},   {"s4", "#b0467f", "#dd86b4"},
    {"s5", "#8a6d00", "#d3b13a"},        {"s6", "#4a4a4a", "#c9c9c4"}};

/// Of the elements of plots; also in pictures of their own.
inline constexpr const char* plot_style = R"css(
svg text { fill: var(--soft); font-size: 13px; font-family: system-ui, "DejaVu Sans", sans-serif; }
svg text.on-cell { fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: 1; fill: none; }
.axis, .range { stroke: var(--soft); stroke-width: 1; fill: none; }
.identity { stroke: var(--soft); stroke-width: 1.5; fill: none; }
.band { fill: var(--band); stroke: none; }
.cell { fill: var(--measured); stroke: none; }
.measured { fill: var(--measured); stroke: var(--card); stroke-width: 1; }
.predicted { fill: var(--predicted); stroke: var(--card); stroke-width: 1; }
.predicted-line { fill: none; stroke: var(--predicted); stroke-width: 2; }
.measured-range { fill: none; stroke: var(--measured); stroke-width: 2; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .s6 { fill: var(--s6); }
.s1, .s2, .s3, .s4, .s5, .s6 { stroke: var(--card); stroke-width: 1; }
.s1-line { stroke: var(--s1); } .s2-line { stroke: var(--s2); } .s3-line { stroke: var(--s3); }
.s4-line { stroke: var(--s4); } .s5-line { stroke: var(--s5); } .s6-line { stroke: var(--s6); }
.s1-line, .s2-line, .s3-line, .s4-line, .s5-line, .s6-line { fill: none; stroke-width: 2; }
)css";

/// Of the rest of a page.
inline constexpr const char* page_style = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.2rem 1rem 3rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
h3 { font-size: 1rem; margin: .2rem 0; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
.lead { font-size: 1.1rem; }
.note, figcaption { color: var(--soft); font-size: .9rem; }
.findings { margin: .3rem 0 .8rem; padding-left: 1.2rem; max-width: 46rem; }
.tiles, .plots { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); }
.plots { grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.tile, figure { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .8rem; }
.tile b { display: block; font-size: 1.45rem; font-weight: 600; }
.tile span { color: var(--soft); font-size: .85rem; }
figure { margin: 0; min-width: 0; }
svg { display: block; width: 100%; height: auto; }
img { max-width: 100%; height: auto; background: #ffffff; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .2rem 0 .6rem; padding: 0; list-style: none;
  font-size: .9rem; }
.legend svg { display: inline-block; width: 1rem; height: 1rem; vertical-align: -.15rem; margin-right: .35rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; }
.words td:first-child, .words td:last-child { white-space: normal; }
.words th:first-child, .words td:first-child, .words th:last-child, .words td:last-child { text-align: left; }
.sortable th { cursor: pointer; }
.sortable th[aria-sort=ascending]::after { content: " \2191"; }
.sortable th[aria-sort=descending]::after { content: " \2193"; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); padding: .7rem; font-size: .85rem; }
code { overflow-wrap: anywhere; }
@media (max-width: 30rem) { th, td { padding: .3rem .35rem; } table { font-size: .85rem; } .tile, figure { padding: .6rem .5rem; }
  svg text { font-size: 15px; } }
)css";

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

/// Meaning of a kind of mark in a figure.
struct LegendEntry {
  std::string css_class;
  Marker marker = Marker::circle;
  std::string name;
};

/// A picture with its words: part of a page, or a file of its own.
struct Figure {
  std::string name;  ///< of its file, and its id in the page: letters, digits, "-"
  std::string title;
  std::vector<LegendEntry> legend;  ///< may be empty
  std::string svg;                  ///< an <svg> without width and height; colours are classes of report_style.hpp
  double width = 0;                 ///< of its viewBox
  double height = 0;
  std::string caption;  ///< may be empty
};

Figure make_figure(const std::string& name, const std::string& title, const SvgPlot& plot);

/// As a part of a page.
std::string figure_html(const Figure& figure);
std::string legend_html(const std::vector<LegendEntry>& legend);

/// As an SVG file: with title, legend and colours (the light ones), nothing from outside.
std::string figure_file(const Figure& figure);

}  // namespace hplcast::study
