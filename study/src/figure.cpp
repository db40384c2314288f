#include "figure.hpp"

#include "hplcast/core/xml.hpp"
#include "markup.hpp"
#include "report_style.hpp"

namespace hplcast::study {

namespace {

constexpr double margin = 12;
constexpr double title_height = 30;
constexpr double legend_line = 20;

/// The style of plots with the light colours in the place of the variables: not every program that shows SVG knows
/// variables.
std::string light_style() {
  std::string style = plot_style;
  for (const Colour& colour : palette) {
    const std::string variable = std::string("var(--") + colour.name + ")";
    for (std::size_t at = style.find(variable); at != std::string::npos; at = style.find(variable, at)) {
      style.replace(at, variable.size(), colour.light);
    }
  }
  return style;
}

std::string text_at(double x, double y, const std::string& style, const std::string& text) {
  return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\"" + style + ">" + core::xml_escaped(text) +
         "</text>\n";
}

}  // namespace

Figure make_figure(const std::string& name, const std::string& title, const SvgPlot& plot) {
  Figure figure;
  figure.name = name;
  figure.title = title;
  figure.svg = plot.svg();
  figure.width = SvgPlot::width;
  figure.height = SvgPlot::height;
  return figure;
}

std::string legend_html(const std::vector<LegendEntry>& legend) {
  if (legend.empty()) return "";
  std::string html = "<ul class=\"legend\">\n";
  for (const LegendEntry& entry : legend) {
    html += "<li><svg viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><path class=\"" + entry.css_class + "\" d=\"" +
            marker_path(entry.marker) + "\"/></svg>" + core::xml_escaped(entry.name) + "</li>\n";
  }
  return html + "</ul>\n";
}

std::string figure_html(const Figure& figure) {
  return "<figure>\n<h3>" + core::xml_escaped(figure.title) + "</h3>\n" + legend_html(figure.legend) +
         "<div class=\"wide\">" + figure.svg + "</div>\n" +
         (figure.caption.empty() ? "" : "<figcaption>" + core::xml_escaped(figure.caption) + "</figcaption>\n") +
         "</figure>\n";
}

std::string figure_file(const Figure& figure) {
  const double width = figure.width + 2 * margin;
  const double plot_bottom = margin + title_height + figure.height;
  const double height = plot_bottom + legend_line * static_cast<double>(figure.legend.size()) + margin;
  const std::string size = " width=\"" + coordinate(width) + "\" height=\"" + coordinate(height) + "\"";
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size + " viewBox=\"0 0 " + coordinate(width) + " " +
                    coordinate(height) + "\">\n<style>" + light_style() +
                    "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  svg += text_at(margin, margin + 16, " style=\"font-size:15px;font-weight:bold\"", figure.title);
  std::string inner = figure.svg;
  inner.insert(4, " x=\"" + coordinate(margin) + "\" y=\"" + coordinate(margin + title_height) + "\" width=\"" +
                      coordinate(figure.width) + "\" height=\"" + coordinate(figure.height) + "\"");
  svg += inner;
  double y = plot_bottom + 0.7 * legend_line;
  for (const LegendEntry& entry : figure.legend) {
    svg += "<path class=\"" + entry.css_class + "\" transform=\"translate(" + coordinate(margin + 8) + " " +
           coordinate(y - 4) + ")\" d=\"" + marker_path(entry.marker) + "\"/>\n";
    svg += text_at(margin + 22, y, "", entry.name);
    y += legend_line;
  }
  if (!figure.caption.empty()) svg += "<desc>" + core::xml_escaped(figure.caption) + "</desc>\n";
  return svg + "</svg>\n";
}

}  // namespace hplcast::study
