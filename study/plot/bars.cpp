#include <algorithm>
#include <cmath>

#include "study/plot/figure.hpp"

namespace hplcast::study {

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
