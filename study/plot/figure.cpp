#include "study/plot/figure.hpp"

#include <algorithm>
#include <cmath>

#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

std::string label(double x, double y, const std::string& anchor, const std::string& content,
                  const std::string& more = "") {
  return "<text" + attribute("x", coordinate(x)) + attribute("y", coordinate(y)) + attribute("text-anchor", anchor) +
         more + ">" + core::xml_escaped(content) + "</text>\n";
}

std::string grid_line(double x1, double y1, double x2, double y2, const std::string& css_class) {
  return "<path" + attribute("class", css_class) +
         attribute("d", "M" + coordinate(x1) + " " + coordinate(y1) + "L" + coordinate(x2) + " " + coordinate(y2)) +
         "/>\n";
}

/// The outline of a marker around (0, 0).
std::string marker_path(Marker shape) {
  constexpr const char* paths[] = {"M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z",
                                   "M-4 -4H4V4H-4Z",
                                   "M0 -5.5L5 4H-5Z",
                                   "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
                                   "M-3 -3L3 3M3 -3L-3 3",
                                   "M-8 0H8",
                                   "M0 0h0"};  // in the order of Marker
  return paths[static_cast<std::size_t>(shape)];
}

/// Powers of ten, about `count` at most; within a few of them 2 and 5 times these, too.
std::vector<PlotTick> logarithmic_ticks(double min, double max, int count) {
  const double decades = std::log10(max / min), step = std::max(1.0, std::ceil(decades / count));
  std::vector<PlotTick> ticks;
  for (double decade = std::floor(std::log10(min)); decade <= std::log10(max); ++decade) {
    if (std::fmod(decade, step) != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10.0, decade);
      const bool is_between = at >= min * (1 - 1e-9) && at <= max * (1 + 1e-9);
      if (is_between && (factor == 1 || 3 * decades <= count)) ticks.push_back({at, core::printed("%g", at)});
    }
  }
  return ticks;
}

/// Ticks with their labels: as many decimals as their distance needs, no more.
std::vector<PlotTick> labelled_ticks(const PlotAxis& axis, double length, double distance) {
  if (!axis.ticks.empty()) return axis.ticks;
  const int count = std::max(2, static_cast<int>(std::lround(length / distance)));
  if (axis.logarithmic) return logarithmic_ticks(axis.min, axis.max, count);
  auto ticks = nice_ticks(axis.min, axis.max, count);
  if (ticks.size() < 2) ticks = nice_ticks(axis.min, axis.max, 2 * count);  // one says nothing of the distance
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
  const int decimals = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  constexpr int most_decimals = 4;
  constexpr double most = 1e8;
  const bool exponent = decimals > most_decimals || std::abs(axis.max) >= most;
  return core::mapped(ticks, [&](double tick) {
    return PlotTick{tick, exponent ? core::printed("%g", tick) : with_decimals(tick, decimals)};
  });
}

constexpr double x_distance = 70, y_distance = 48;  // of ticks, about

/// From the begin (0) to the end (1) of an axis.
double position(const PlotAxis& axis, double value) {
  if (axis.logarithmic) return std::log(value / axis.min) / std::log(axis.max / axis.min);
  return (value - axis.min) / (axis.max - axis.min);
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

Figure::Figure(std::string id, std::string title, PlotAxis x, PlotAxis y, PlotSize size)
    : heading(title), id_(std::move(id)), title_(std::move(title)), x_(std::move(x)), y_(std::move(y)), size_(size) {
  constexpr double letter = 8.6, beside = 9;  // on a phone
  for (const PlotTick& tick : labelled_ticks(y_, size_.height - size_.top - size_.bottom, y_distance))
    size_.left = std::max(size_.left, letter * static_cast<double>(tick.name.size()) + beside);
}

double Figure::to_x(double value) const {
  return size_.left + position(x_, value) * (size_.width - size_.left - size_.right);
}

double Figure::to_y(double value) const {
  return size_.height - size_.bottom - position(y_, value) * (size_.height - size_.top - size_.bottom);
}

std::string Figure::path(const std::vector<PlotPoint>& points) const {
  std::string d;
  for (const PlotPoint& point : points)
    d += (d.empty() ? "M" : "L") + coordinate(to_x(point.x)) + " " + coordinate(to_y(point.y));
  return d;
}

void Figure::shape(const std::string& css_class, const std::string& d, const std::string& tooltip,
                   const std::string& more) {
  marks_ += "<path" + attribute("class", css_class) + more + attribute("d", d) +
            (tooltip.empty() ? "/>\n" : "><title>" + core::xml_escaped(tooltip) + "</title></path>\n");
}

void Figure::line(const std::vector<PlotPoint>& points, const std::string& css_class, const std::string& tooltip) {
  shape(css_class, path(points), tooltip, "");
}

void Figure::area(const std::vector<PlotPoint>& outline, const std::string& css_class) {
  shape(css_class, path(outline) + "Z", "", "");
}

void Figure::bar(PlotPoint from, PlotPoint to, const std::string& css_class, const std::string& tooltip,
                 double opacity) {
  const std::string d = "M" + coordinate(to_x(from.x)) + " " + coordinate(to_y(from.y)) + "H" + coordinate(to_x(to.x)) +
                        "V" + coordinate(to_y(to.y)) + "H" + coordinate(to_x(from.x)) + "Z";
  shape(css_class, d, tooltip,
        " style=\"stroke:none" + (opacity < 1 ? ";fill-opacity:" + coordinate(opacity) : "") + "\"");
}

void Figure::dots(const std::vector<PlotPoint>& points, const std::string& css_class, int length) {
  if (points.empty()) return;
  const int decimals = length > 0 ? 0 : 1;
  std::string d;
  for (const PlotPoint& point : points)
    d += "M" + coordinate(to_x(point.x), decimals) + " " + coordinate(to_y(point.y), decimals) + "h" +
         std::to_string(length);
  shape(css_class, d, "", "");
}

void Figure::marker(PlotPoint at, Marker mark, const std::string& css_class, const std::string& tooltip) {
  shape(css_class, marker_path(mark), tooltip,
        attribute("transform", "translate(" + coordinate(to_x(at.x)) + " " + coordinate(to_y(at.y)) + ")"));
}

void Figure::text(PlotPoint at, const std::string& css_class, const std::string& content, const std::string& anchor) {
  marks_ += label(to_x(at.x), to_y(at.y) + 5, anchor, content, css_class.empty() ? "" : attribute("class", css_class));
}

std::string Figure::axes() const {
  const double left = size_.left, right = size_.width - size_.right;
  const double top = size_.top, bottom = size_.height - size_.bottom;
  std::string result;
  for (const PlotTick& tick : labelled_ticks(x_, right - left, x_distance)) {
    if (x_.has_grid) result += grid_line(to_x(tick.at), top, to_x(tick.at), bottom, "grid");
    const double half = 4.2 * static_cast<double>(tick.name.size());  // of its width: whole at both ends
    result +=
        label(std::clamp(to_x(tick.at), half, std::max(half, size_.width - half)), bottom + 17, "middle", tick.name);
  }
  for (const PlotTick& tick : labelled_ticks(y_, bottom - top, y_distance)) {
    if (y_.has_grid) result += grid_line(left, to_y(tick.at), right, to_y(tick.at), "grid");
    const std::string name = label(left - 7, to_y(tick.at) + 4, "end", tick.name);
    result += tick.link.empty() ? name : "<a" + attribute("href", tick.link) + ">" + name + "</a>";
  }
  result += grid_line(left, bottom, right, bottom, "axis") + grid_line(left, top, left, bottom, "axis");
  if (!x_.label.empty()) result += label((left + right) / 2, size_.height - 10, "middle", x_.label);
  if (!y_.label.empty()) result += label(4, 14, "start", y_.label);
  return result;
}

std::string Figure::svg(const std::string& attributes) const {
  // Marks on the edge of the plot stay whole: the clip leaves them their radius.
  constexpr double margin = 6;
  const std::string clip = id_ + "-clip";
  return "<svg" + attributes + (style.empty() ? "" : attribute("style", style)) +
         attribute("viewBox", "0 0 " + coordinate(size_.width) + " " + coordinate(size_.height)) +
         attribute("role", "img") + attribute("aria-label", title_) + ">\n<clipPath" + attribute("id", clip) +
         "><rect" + attribute("x", coordinate(size_.left - margin)) + attribute("y", coordinate(size_.top - margin)) +
         attribute("width", coordinate(size_.width - size_.left - size_.right + 2 * margin)) +
         attribute("height", coordinate(size_.height - size_.top - size_.bottom + 2 * margin)) + "/></clipPath>\n" +
         axes() + "<g" + attribute("clip-path", "url(#" + clip + ")") + "><g>\n" + marks_ + "</g></g>\n</svg>\n";
}

std::string Figure::stretched() const {
  constexpr double side = 6;
  const double top = size_.top, height = size_.height - size_.top - size_.bottom;
  const auto share = [&](double value) { return coordinate(100 * position(x_, value)) + "%"; };
  std::string words;
  for (const PlotTick& tick : x_.ticks) {
    const bool first = &tick == &x_.ticks.front(), last = &tick == &x_.ticks.back();
    words += "<text" + attribute("x", share(tick.at)) + attribute("y", coordinate(top + height + 17)) +
             attribute("text-anchor", first  ? "start"
                                      : last ? "end"
                                             : "middle") +
             (first || last ? "" : attribute("class", "between")) + ">" + core::xml_escaped(tick.name) + "</text>\n";
  }
  const auto line = [&](const std::string& x, double from, double to, const char* css_class) {
    return "<line" + attribute("class", css_class) + attribute("x1", "0") + attribute("x2", x) +
           attribute("y1", coordinate(from)) + attribute("y2", coordinate(to)) + "/>\n";
  };
  for (const PlotTick& tick : y_.ticks) {
    if (y_.has_grid) words += line("100%", to_y(tick.at), to_y(tick.at), "grid");
    const std::string name = label(-side, to_y(tick.at) + 4, "end", tick.name);
    words += tick.link.empty() ? name : "<a" + attribute("href", tick.link) + ">" + name + "</a>";
  }
  words += line("100%", top + height, top + height, "axis") + line("0", top, top + height, "axis");
  const std::string box = coordinate(size_.left) + " " + coordinate(top) + " " +
                          coordinate(size_.width - size_.left - size_.right) + " " + coordinate(height);
  return "<div class=\"stretched\"" +
         attribute("style", "padding:0 " + coordinate(side, 0) + "px 0 " + coordinate(size_.left, 0) + "px") + "><svg" +
         attribute("id", id_) + attribute("role", "img") + attribute("aria-label", title_) +
         attribute("style", "height:" + coordinate(size_.height, 0) + "px") + ">\n" + words + "<svg" +
         attribute("y", coordinate(top)) + attribute("height", coordinate(height)) + attribute("viewBox", box) +
         " preserveAspectRatio=\"none\">\n" + marks_ + "</svg></svg></div>\n";
}

std::string legend_html(const std::vector<LegendEntry>& legend) {
  if (legend.empty()) return "";
  std::string html = "<ul class=\"legend\">\n";
  for (const LegendEntry& entry : legend)
    html += "<li><svg viewBox=\"-8 -8 16 16\" aria-hidden=\"true\"><path class=\"" + entry.css_class + "\" d=\"" +
            marker_path(entry.marker) + "\"/></svg>" + core::xml_escaped(entry.name) + "</li>\n";
  return html + "</ul>\n";
}

std::string figures_html(const std::vector<Figure>& figures) {
  std::string html = "<div class=\"plots\">\n";
  for (const Figure& figure : figures) {
    html += "<figure>\n<h3>" + core::xml_escaped(figure.heading) + "</h3>\n" + legend_html(figure.legend) +
            "<div class=\"wide\">" + figure.svg() + "</div>\n";
    if (!figure.caption.empty()) html += "<figcaption>" + core::xml_escaped(figure.caption) + "</figcaption>\n";
    html += "</figure>\n";
  }
  return html + "</div>\n";
}

namespace {

constexpr double file_margin = 12, title_height = 30, legend_line = 20;

/// The words in lines of at most so many letters.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  for (const std::string& word : core::words_of(text)) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > most)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

/// A figure of a file: its title, the plot, and the legend in as many lines as it needs.
struct PlacedFigure {
  std::string svg;
  double width = 0, height = 0;
};

PlacedFigure placed(const Figure& figure, double y) {
  constexpr double letter = 8.4, title_letter = 10.8, caption_letter = 7.2, mark = 40;  // widths
  PlacedFigure result;
  const PlotSize& size = figure.size();
  result.width = size.width + 2 * file_margin;
  double top = y + file_margin + 16;
  for (const std::string& text : wrapped(figure.heading, static_cast<std::size_t>(size.width / title_letter))) {
    result.svg += label(file_margin, top, "start", text, " style=\"font-size:15px;font-weight:bold\"");
    top += legend_line;
  }
  top -= y + 6;  // of the plot, below y
  result.svg += figure.svg(attribute("x", coordinate(file_margin)) + attribute("y", coordinate(y + top)) +
                           attribute("width", coordinate(size.width)) + attribute("height", coordinate(size.height)));
  double at = file_margin, line = top + size.height + 0.7 * legend_line;
  for (const LegendEntry& entry : figure.legend) {
    const double width = mark + letter * static_cast<double>(entry.name.size());
    if (at > file_margin && at + width > result.width) {
      at = file_margin;
      line += legend_line;
    }
    result.svg += "<path" + attribute("class", entry.css_class) +
                  attribute("transform", "translate(" + coordinate(at + 8) + " " + coordinate(y + line - 4) + ")") +
                  attribute("d", marker_path(entry.marker)) + "/>\n" + label(at + 22, y + line, "start", entry.name);
    at += width;
  }
  result.height = line + (figure.legend.empty() ? -0.7 : 0.3) * legend_line + file_margin;
  const auto letters = static_cast<std::size_t>((result.width - 2 * file_margin) / caption_letter);
  for (const std::string& text : wrapped(figure.caption, letters)) {
    result.svg += label(file_margin, y + result.height + 4, "start", text, " style=\"font-size:12px\"");
    result.height += 0.8 * legend_line;
  }
  return result;
}

}  // namespace

std::string figure_file(const std::vector<Figure>& figures, const std::string& title) {
  double width = 0, height = title.empty() ? 0 : title_height;
  std::string content;
  for (const Figure& figure : figures) {
    const PlacedFigure one = placed(figure, height);
    content += one.svg;
    width = std::max(width, one.width);
    height += one.height;
  }
  if (!title.empty())
    content += label(width / 2, file_margin + 12, "middle", title, " style=\"font-size:16px;font-weight:bold\"");
  const std::string size = coordinate(width) + " " + coordinate(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", coordinate(width)) +
         attribute("height", coordinate(height)) + attribute("viewBox", "0 0 " + size) + ">\n<style>" +
         style_of_pictures() + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n" + content +
         "</svg>\n";
}

namespace {

// In the units of the viewBox: as wide as other plots, so that a phone shows the same letters.
constexpr double bars_width = 420, bar_side = 14, bar_row_height = 46, axis_below = 48;
constexpr double name_at = 11.04, bar_at = 21.16, bar_until = 40.48, second_line = 16;  // of a row
constexpr std::size_t letters_of_line = 50;
constexpr double phone_letter = 9, bar_gap = 6;

double bar_text_width(const std::string& text) {
  return phone_letter * static_cast<double>(text.size());
}

/// Right of the bar, left of it, or in it, as there is room.
void add_value(Figure& plot, const PlotAxis& x, const BarRow& row, double y) {
  if (row.value.empty() || row.parts.empty()) return;
  const double unit = (bars_width - 2 * bar_side) / (x.max - x.min);  // per value
  const BarPart& last = row.parts.back();
  const double left = std::min(last.from, last.to), right = std::max(last.from, last.to);
  const double need = bar_text_width(row.value) + bar_gap;
  if ((x.max - right) * unit > need)
    plot.text({right + bar_gap / unit, y}, "", row.value, "start");
  else if ((left - x.min) * unit > need)
    plot.text({left - bar_gap / unit, y}, "", row.value, "end");
  else
    plot.text({right - bar_gap / unit, y}, last.css_class == "untested" ? "on-cell" : "on-bar", row.value, "end");
}

}  // namespace

Figure bar_figure(const std::string& id, const std::string& title, const PlotAxis& x, const std::vector<BarRow>& rows,
                  bool joined) {
  const auto count = static_cast<double>(rows.size());
  const PlotAxis down{"", count, 0, {{-1, ""}}, false, false};
  PlotAxis across = x;
  across.has_grid = false;  // lines would cross the names
  const bool is_long =
      std::any_of(rows.begin(), rows.end(), [](const BarRow& row) { return row.name.size() > letters_of_line; });
  const double more = is_long ? second_line : 0, height = bar_row_height + more;
  const double bar_begin = (bar_at + more) / height, bar_end = (bar_until + more) / height;
  Figure plot(id, title, across, down, {bars_width, height * count + axis_below, bar_side, bar_side, 0, axis_below});
  const double unit = (bars_width - 2 * bar_side) / (x.max - x.min);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const BarRow& row = rows[i];
    const auto top = static_cast<double>(i);
    for (const BarPart& part : row.parts) {
      plot.bar({part.from, top + bar_begin}, {part.to, top + bar_end}, part.css_class, part.tooltip);
      if (!part.text.empty() && std::abs(part.to - part.from) * unit > bar_text_width(part.text))
        plot.text({(part.from + part.to) / 2, top + (bar_begin + bar_end) / 2}, "on-bar", part.text);
    }
    add_value(plot, x, row, top + (bar_begin + bar_end) / 2);
    if (joined && i + 1 < rows.size() && !row.parts.empty())
      plot.line({{row.parts.back().to, top + bar_end}, {row.parts.back().to, top + 1 + bar_begin}}, "range");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {  // above the lines
    std::string name = rows[i].name;
    const PlotPoint at{x.min + bar_gap / 2 / unit, static_cast<double>(i) + name_at / height};
    if (name.size() > letters_of_line) {
      const std::size_t blank = name.rfind(' ', letters_of_line),
                        end = blank == std::string::npos ? letters_of_line : blank;
      plot.text(at, "name", name.substr(0, end), "start");
      name.erase(0, blank == std::string::npos ? end : end + 1);
      if (name.size() > letters_of_line) name = name.substr(0, letters_of_line - 3) + "...";
      plot.text({at.x, at.y + second_line / height}, "name", name, "start");
    } else {
      plot.text(at, "name", name, "start");
    }
  }
  return plot;
}

}  // namespace hplcast::study
