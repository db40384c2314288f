#include "study/plot/figure.hpp"

#include <cmath>

#include "hplcast/core/text.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

// In the units of the viewBox. A phone shows it at about 0.85 of its size: 13 stays readable.
constexpr double left = 62;
constexpr double right = 14;
constexpr double top = 28;  // the name of the y axis stands there: turned by 90 degrees, it is hard to read
constexpr double bottom = 50;
constexpr int tick_count = 5;

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + value + "\"";
}

std::string segment(double x1, double y1, double x2, double y2, const std::string& css_class) {
  return "<path" + attribute("class", css_class) +
         attribute("d", "M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " + coordinate(y2)) +
         "/>\n";
}

std::string label(double x, double y, const std::string& anchor, const std::string& content,
                  const std::string& more = "") {
  return "<text" + attribute("x", coordinate(x)) + attribute("y", coordinate(y)) + attribute("text-anchor", anchor) +
         more + ">" + core::xml_escaped(content) + "</text>\n";
}

}  // namespace

std::vector<double> nice_ticks(double min, double max, int count) {
  const double raw = (max - min) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * 0.99) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  // Multiples of the step by counting: adding it up would leave 0.30000000000000004 on the axis.
  for (double i = std::ceil(min / step - 1e-9); i * step <= max + 1e-9 * step; ++i)
    ticks.push_back(i * step + 0.0);  // -0 becomes 0
  return ticks;
}

std::string marker_path(Marker shape) {
  switch (shape) {
    case Marker::square:
      return "M-4 -4H4V4H-4Z";
    case Marker::triangle:
      return "M0 -5.5L5 4H-5Z";
    case Marker::diamond:
      return "M0 -5.8L5.8 0L0 5.8L-5.8 0Z";
    case Marker::circle:
      break;
  }
  return "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z";
}

namespace {

/// Ticks with their labels: as many decimals as their distance needs, no more.
std::vector<std::pair<double, std::string>> labelled_ticks(const PlotAxis& axis) {
  if (!axis.ticks.empty()) return axis.ticks;
  const auto ticks = nice_ticks(axis.min, axis.max, tick_count);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  const int decimals = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  std::vector<std::pair<double, std::string>> result;
  for (const double tick : ticks) result.emplace_back(tick, with_decimals(tick, decimals));
  return result;
}

}  // namespace

SvgPlot::SvgPlot(std::string id, std::string title, PlotAxis x, PlotAxis y)
    : id_(std::move(id)), title_(std::move(title)), x_(std::move(x)), y_(std::move(y)) {}

double SvgPlot::to_x(double value) const {
  return left + (value - x_.min) / (x_.max - x_.min) * (width - left - right);
}

double SvgPlot::to_y(double value) const {
  return height - bottom - (value - y_.min) / (y_.max - y_.min) * (height - top - bottom);
}

std::string SvgPlot::path(const std::vector<PlotPoint>& points) const {
  std::string d;
  for (const PlotPoint& point : points) {
    d += (d.empty() ? "M" : "L") + coordinate(to_x(point.x)) + " " + coordinate(to_y(point.y));
  }
  return d;
}

void SvgPlot::line(const std::vector<PlotPoint>& points, const std::string& css_class) {
  marks_ += "<path" + attribute("class", css_class) + attribute("d", path(points)) + "/>\n";
}

void SvgPlot::area(const std::vector<PlotPoint>& outline, const std::string& css_class) {
  marks_ += "<path" + attribute("class", css_class) + attribute("d", path(outline) + "Z") + "/>\n";
}

void SvgPlot::marker(PlotPoint at, Marker shape, const std::string& css_class, const std::string& tooltip) {
  marks_ += "<path" + attribute("class", css_class) +
            attribute("transform", "translate(" + coordinate(to_x(at.x)) + " " + coordinate(to_y(at.y)) + ")") +
            attribute("d", marker_path(shape)) + "><title>" + core::xml_escaped(tooltip) + "</title></path>\n";
}

void SvgPlot::text(PlotPoint at, const std::string& anchor, const std::string& content) {
  marks_ += label(to_x(at.x), to_y(at.y), anchor, content);
}

std::string SvgPlot::axes() const {
  std::string result;
  for (const auto& [tick, name] : labelled_ticks(x_)) {
    result += segment(to_x(tick), top, to_x(tick), height - bottom, "grid");
    result += label(to_x(tick), height - bottom + 17, "middle", name);
  }
  for (const auto& [tick, name] : labelled_ticks(y_)) {
    result += segment(left, to_y(tick), width - right, to_y(tick), "grid");
    result += label(left - 7, to_y(tick) + 4, "end", name);
  }
  result += segment(left, height - bottom, width - right, height - bottom, "axis");
  result += segment(left, top, left, height - bottom, "axis");
  result += label((left + width - right) / 2, height - 10, "middle", x_.label);
  result += label(4, 14, "start", y_.label);
  return result;
}

std::string SvgPlot::svg() const {
  // Marks on the edge of the plot stay whole: the clip leaves them their radius.
  constexpr double margin = 6;
  const std::string clip = id_ + "-clip";
  return "<svg" + attribute("viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)) +
         attribute("role", "img") + attribute("aria-label", core::xml_escaped(title_)) +
         attribute("xmlns", "http://www.w3.org/2000/svg") + ">\n<clipPath" + attribute("id", clip) + "><rect" +
         attribute("x", coordinate(left - margin)) + attribute("y", coordinate(top - margin)) +
         attribute("width", coordinate(width - left - right + 2 * margin)) +
         attribute("height", coordinate(height - top - bottom + 2 * margin)) + "/></clipPath>\n" + axes() + "<g" +
         attribute("clip-path", "url(#" + clip + ")") + ">\n" + marks_ + "</g>\n</svg>\n";
}

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
