#include <algorithm>
#include <cmath>

#include "study/plot/figure.hpp"

namespace hplcast::study {

namespace {

// In the units of the viewBox: as wide as other plots, so that a phone shows the same letters.
constexpr double bars_width = 420, bar_side = 14, bar_row_height = 46, axis_below = 48;
constexpr double name_at = 0.24, bar_begin = 0.46, bar_end = 0.88;  // of a row
constexpr double phone_letter = 8, bar_gap = 6;

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
    plot.text({right - bar_gap / unit, y}, "on-bar", row.value, "end");
}

}  // namespace

Figure bar_figure(const std::string& id, const std::string& title, const PlotAxis& x, const std::vector<BarRow>& rows,
                  bool joined) {
  const auto count = static_cast<double>(rows.size());
  const PlotAxis down{"", count, 0, {{-1, ""}}, false, false};
  PlotAxis across = x;
  across.has_grid = false;  // lines would cross the names
  Figure plot(id, title, across, down,
              {bars_width, bar_row_height * count + axis_below, bar_side, bar_side, 0, axis_below});
  const double unit = (bars_width - 2 * bar_side) / (x.max - x.min);
  constexpr std::size_t most_letters = 50;
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
    const std::string& name = rows[i].name;
    plot.text({x.min + bar_gap / 2 / unit, static_cast<double>(i) + name_at}, "name",
              name.size() > most_letters ? name.substr(0, most_letters - 3) + "..." : name, "start");
  }
  return plot;
}

}  // namespace hplcast::study
