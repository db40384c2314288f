#include "study/history/site.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hplcast/core/text.hpp"

namespace hplcast::study {

namespace {

std::string number(double value, int decimals = 1) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string significant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string text_at(double x, double y, const char* anchor, const std::string& content) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         core::xml_escaped(content) + "</text>";
}

/// Maps a time to a coordinate between two others.
struct TimeScale {
  TimeRange time;
  double left, right;
  double operator()(std::int64_t time_s) const {
    return left + (right - left) * static_cast<double>(time_s - time.begin_s) /
                      static_cast<double>(std::max<std::int64_t>(1, time.end_s - time.begin_s));
  }
};

/// Four dates below an axis.
std::string dates(const TimeScale& x, double y) {
  std::string svg;
  for (int i = 0; i <= 3; ++i) {
    const std::int64_t time_s = x.time.begin_s + (x.time.end_s - x.time.begin_s) * i / 3;
    svg += text_at(x(time_s), y, i == 0 ? "start" : i == 3 ? "end" : "middle", date_text(time_s));
  }
  return svg;
}

std::string change_lines(const std::vector<Change>& changes, const TimeScale& x, double top, double bottom) {
  std::string svg;
  for (const Change& change : changes) {
    if (change.time_s < x.time.begin_s || change.time_s > x.time.end_s) continue;
    svg += "<path class=\"change\" d=\"M" + number(x(change.time_s)) + " " + number(top) + "V" + number(bottom) +
           "\"><title>" + date_text(change.time_s) + " " + core::xml_escaped(change.type + ": " + change.description) +
           "</title></path>";
  }
  return svg;
}

/// The range of values that a plot shows: all but wild outliers, and the region around them.
struct ValueRange {
  double low, high;
};

/// Long histories are shown from some time on.
std::size_t first_shown(const ShownSeries& series, const TimeRange& time) {
  const auto& times = series.history->time_s;
  return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time.begin_s) - times.begin());
}

ValueRange range_of(const ShownSeries& series) {
  std::vector<double> values;
  for (std::size_t i = 0; i < series.kinds.size(); ++i)
    if (series.kinds[i] != CellKind::outlier) values.push_back(series.history->value[i]);
  if (values.empty()) values = series.history->value;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double margin = std::max((*high - *low) * 0.15, 1e-3 * std::abs(*high) + 1e-300);
  return {*low - margin, *high + margin};
}

}  // namespace

const char* to_string(CellKind kind) {
  switch (kind) {
    case CellKind::untested:
      return "untested";
    case CellKind::inside:
      return "inside";
    case CellKind::below:
      return "below";
    case CellKind::above:
      return "above";
    case CellKind::outlier:
      return "outlier";
  }
  return "";
}

namespace {

constexpr double plot_width = 720, plot_height = 200, plot_left = 56, plot_right = 712, plot_top = 22,
                 plot_bottom = 176;

/// The region of each run as an area, interrupted where nothing was tested.
std::string band(const ShownSeries& series, const TimeScale& x, const ValueRange& range) {
  const auto y = [&](double value) {
    const double share = (std::clamp(value, range.low, range.high) - range.low) / (range.high - range.low);
    return plot_bottom - share * (plot_bottom - plot_top);
  };
  std::string svg;
  std::size_t i = first_shown(series, x.time);
  while (i < series.own.size()) {
    if (series.own[i].region == fit::Region::untested) {
      ++i;
      continue;
    }
    std::string upper, lower;
    for (; i < series.own.size() && series.own[i].region != fit::Region::untested; ++i) {
      const fit::RunScore& score = series.own[i];
      const std::string at = number(x(series.history->time_s[i])) + " ";
      upper += (upper.empty() ? "M" : "L") + at + number(y(score.expected + score.half_width));
      lower = "L" + at + number(y(score.expected - score.half_width)) + lower;
    }
    svg += "<path class=\"band\" d=\"" + upper + lower + "Z\"/>";
  }
  return svg;
}

std::string points(const ShownSeries& series, const TimeScale& x, const ValueRange& range) {
  std::string plain, marked;
  for (std::size_t i = first_shown(series, x.time); i < series.kinds.size(); ++i) {
    const double value = series.history->value[i];
    const double share = (std::clamp(value, range.low, range.high) - range.low) / (range.high - range.low);
    const std::string at =
        number(x(series.history->time_s[i])) + " " + number(plot_bottom - share * (plot_bottom - plot_top));
    const CellKind kind = series.kinds[i];
    if (kind == CellKind::inside || kind == CellKind::untested) {
      plain += "M" + at + "h0";
      continue;
    }
    const std::string shape = kind == CellKind::outlier ? "m-3-3l6 6m0-6l-6 6" : "h0";
    marked += "<path class=\"dot " + std::string(to_string(kind)) + "\" d=\"M" + at + shape + "\"><title>" +
              date_text(series.history->time_s[i]) + ": " + significant(value) + "</title></path>";
  }
  return "<path class=\"dot\" d=\"" + plain + "\"/>" + marked;
}

}  // namespace

std::string evolution_svg(const ShownSeries& series, const TimeRange& time, const std::vector<Change>& changes,
                          const std::string& title, const std::string& unit) {
  const TimeScale x{time, plot_left, plot_right};
  const ValueRange range = range_of(series);
  std::string svg = "<svg viewBox=\"0 0 " + number(plot_width, 0) + " " + number(plot_height, 0) +
                    "\" role=\"img\"><title>" + core::xml_escaped(title) + "</title>";
  svg += band(series, x, range) + change_lines(changes, x, plot_top, plot_bottom);
  for (int i = 0; i <= 2; ++i) {
    const double y = plot_bottom - i * (plot_bottom - plot_top) / 2;
    svg += "<path class=\"grid\" d=\"M" + number(plot_left) + " " + number(y) + "H" + number(plot_right) + "\"/>";
    svg += text_at(plot_left - 5, y + 4, "end", significant(range.low + i * (range.high - range.low) / 2));
  }
  svg += points(series, x, range);
  return svg + text_at(4, 12, "start", title + ", " + unit) + dates(x, plot_height - 6) + "</svg>\n";
}

std::string overview_svg(const std::vector<OverviewRow>& rows, const TimeRange& time,
                         const std::vector<Change>& changes) {
  constexpr double row_height = 15, left = 130, top = 6, cell = 4;
  const double bottom = top + row_height * static_cast<double>(rows.size());
  const TimeScale x{time, left, plot_width - cell};
  std::string svg = "<svg viewBox=\"0 0 " + number(plot_width, 0) + " " + number(bottom + 22, 0) +
                    "\" role=\"img\"><title>verdicts of all CPUs over time</title>";
  double y = top;
  for (const OverviewRow& row : rows) {
    // Cells of one kind are one path: hundreds of CPUs and years must fit a page.
    std::string paths[5];
    for (std::size_t i = 0; i < row.series->kinds.size(); ++i)
      paths[static_cast<std::size_t>(row.series->kinds[i])] +=
          "M" + number(x(row.series->history->time_s[i]), 0) + " " + number(y + 7, 0) + "h4";
    svg += "<a href=\"" + row.link + "\">" + text_at(left - 6, y + 11, "end", to_string(row.series->place)) + "</a>";
    for (const CellKind kind :
         {CellKind::untested, CellKind::inside, CellKind::outlier, CellKind::above, CellKind::below}) {
      const std::string& path = paths[static_cast<std::size_t>(kind)];
      if (!path.empty()) svg += "<path class=\"cell " + std::string(to_string(kind)) + "\" d=\"" + path + "\"/>";
    }
    y += row_height;
  }
  return svg + change_lines(changes, x, top, bottom) + dates(x, bottom + 16) + "</svg>\n";
}

std::string histogram_svg(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) return "";
  constexpr int bins = 16;
  constexpr double width = 720, height = 150, left = 20, bottom = 120, top = 10;
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double begin = *low, span = std::max(*high - *low, 1e-9 * std::abs(*high) + 1e-300);
  int counts[bins] = {};
  for (double value : values) ++counts[std::min(bins - 1, static_cast<int>(bins * (value - begin) / span))];
  const int most = *std::max_element(counts, counts + bins);
  std::string svg = "<svg viewBox=\"0 0 720 150\" role=\"img\"><title>distribution of the newest runs</title>";
  const double step = (width - 2 * left) / bins;
  for (int i = 0; i < bins; ++i) {
    const double tall = (bottom - top) * counts[i] / most;
    svg += "<path class=\"bar\" d=\"M" + number(left + i * step) + " " + number(bottom) + "v" + number(-tall) + "h" +
           number(step - 2) + "v" + number(tall) + "Z\"><title>" + std::to_string(counts[i]) + "</title></path>";
  }
  svg += text_at(left, height - 10, "start", significant(begin)) +
         text_at(width - left, height - 10, "end", significant(begin + span) + " " + unit);
  return svg + "</svg>\n";
}

}  // namespace hplcast::study
