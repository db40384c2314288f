#pragma once

#include <string>
#include <vector>

#include "svg_plot.hpp"

namespace hplcast::study {

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
