// The measurements of a campaign and the sensors meanwhile, on one axis of time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/study/report.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t most_time_series = 8,
                      most_drawn_points = 6000;          // of a figure: what eyes tell apart, and browsers draw quickly
constexpr double large_flop = 1e8, large_bytes = 65536;  // calls that are so short tell the overhead, not the speed

/// Values of one name over time.
using TimeSeries = std::map<std::string, std::vector<PlotPoint>>;

/// One diagram to be.
struct TimePanel {
  std::string title, unit, note;
  TimeSeries series;
  bool joined = false;  ///< readings of a sensor; else single calls
};

/// All diagrams with the span of time that they share.
struct CampaignTimeline {
  std::vector<TimePanel> panels;
  double begin_s = std::numeric_limits<double>::infinity(), end_s = -begin_s;

  void add(TimePanel panel) {
    if (panel.series.empty()) return;
    for (auto& [name, points] : panel.series) {
      std::sort(points.begin(), points.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
      begin_s = std::min(begin_s, points.front().x);
      end_s = std::max(end_s, points.back().x);
    }
    panels.push_back(std::move(panel));
  }
};

/// How steady the machine was, as the control tells it.
std::string control_verdict(const std::string& csv) {
  std::vector<double> slowest_s;
  for (const core::ControlRows& rows : core::read_controls(core::TextStream(csv), core::campaign_control_file)) {
    slowest_s.push_back(0);
    for (const core::ControlRow& row : rows) slowest_s.back() = std::max(slowest_s.back(), row.wall_s);
  }
  if (slowest_s.empty()) return "";
  constexpr double usual = 1.1;  // docs/models/control.md
  const double best = *std::min_element(slowest_s.begin(), slowest_s.end());
  const auto disturbed =
      std::count_if(slowest_s.begin(), slowest_s.end(), [&](double one) { return one > usual * best; });
  const double worst = *std::max_element(slowest_s.begin(), slowest_s.end());
  const std::string range =
      core::printed("The control took %.3g to %.3g ms on the slowest rank: ", 1e3 * best, 1e3 * worst);
  if (disturbed == 0) return range + "the machine was steady within 10 %.";
  return range + std::to_string(disturbed) + " of " + std::to_string(slowest_s.size()) +
         " controls are more than 10 % above the best. Something disturbed the machine, or it slowed down: fits leave "
         "out what was measured beside them, if the rest is enough.";
}

TimePanel control_panel(const std::string& csv) {
  TimePanel panel{"Control: the same dgemm all the time", "ms per call", "", {}, true};
  for (const core::ControlRows& rows : core::read_controls(core::TextStream(csv), core::campaign_control_file))
    for (const core::ControlRow& row : rows)
      panel.series[row.host + " rank " + std::to_string(row.rank)].push_back({row.start_s, 1e3 * row.wall_s});
  return panel;
}

TimePanel kernel_panel(const std::string& name, const std::string& csv) {
  struct Call {
    std::string place;
    double start_s, flop, duration_s;
  };
  std::vector<Call> calls;
  double largest = 0;
  core::read_kernel_csv(core::TextStream(csv), name, "dgemm", [&](const core::KernelMeasurement& row) {
    const double flop =
        2.0 * static_cast<double>(row.shape.m) * static_cast<double>(row.shape.n) * static_cast<double>(row.shape.k);
    if (!row.error.empty() || row.kernel != "dgemm") return;
    calls.push_back({row.host + " CPU " + std::to_string(row.cpu), row.start_s, flop, row.duration_s});
    largest = std::max(largest, flop);
  });
  const double least = std::min(large_flop, largest / 4);
  TimePanel panel{name + ": large calls",
                  "Gflop/s per rank",
                  "Calls of dgemm with at least " + core::printed("%.2g", least) + " flop, by host and CPU",
                  {},
                  false};
  for (const Call& call : calls)
    if (call.flop >= least) panel.series[call.place].push_back({call.start_s, call.flop / call.duration_s / 1e9});
  return panel;
}

TimePanel message_panel(const std::string& name, const std::string& csv) {
  TimePanel panel{name + ": large messages",
                  "GB/s",
                  "Bytes of one direction over the time of a whole round trip or exchange, at least 64 KiB, by scope",
                  {},
                  false};
  core::read_mpi_csv(core::TextStream(csv), name, "", [&](const core::MpiMeasurement& row) {
    const bool is_whole = row.operation == "pingpong" || row.operation == "panel" || row.operation == "exchange" ||
                          row.operation == "one_way";
    if (!is_whole || !row.error.empty() || row.size_bytes < large_bytes || !(row.duration_s > 0)) return;
    panel.series[row.operation + " " + row.scope].push_back({row.start_s, row.size_bytes / row.duration_s / 1e9});
  });
  return panel;
}

/// The first column of numbers of a command of the user.
TimePanel own_panel(const std::string& name, core::CsvReader& csv) {
  TimePanel panel{name, "", "", {}, false};
  const std::set<std::string> skipped = {"run", "start_s", "host"};
  const std::size_t host = csv.column("host"), start = csv.column("start_s");
  while (csv.next()) {
    for (std::size_t at = 0; at < csv.header().size(); ++at) {
      double value = 0;
      if (skipped.count(csv.header()[at]) > 0 || !core::parse_double(csv.text(at), value)) continue;
      panel.unit = csv.header()[at];
      panel.series[std::string(csv.text(host))].push_back({csv.number(start), value});
      break;
    }
  }
  return panel;
}

void add_measurement(const std::string& path, const std::string& text, CampaignTimeline& timeline) {
  const std::size_t begin = path.find('/') + 1;
  const std::string name = path.substr(begin, path.rfind('.') - begin);
  core::CsvReader csv(core::TextStream(text), path);
  const auto has = [&](const char* column) { return csv.find_column(column) != core::CsvReader::npos; };
  if (has("run") && name.find("-own-") != std::string::npos) return timeline.add(own_panel(name, csv));
  if (has("size_bytes") && has("duration_s") && has("scope")) return timeline.add(message_panel(name, text));
  if (has("m") && has("duration_s")) timeline.add(kernel_panel(name, text));
}

/// A quantity of the files of monitoring in words.
std::string quantity_words(const std::string& quantity) {
  static const std::map<std::string, std::string> words = {{"frequency_hz", "Frequency"},
                                                           {"temperature_celsius", "Temperature"},
                                                           {"power_w", "Power"},
                                                           {"throttle_count", "Throttlings"},
                                                           {"received_bytes", "Received"},
                                                           {"sent_bytes", "Sent"},
                                                           {"network_errors", "Errors of network cards"},
                                                           {"stolen_s", "Time that other virtual machines took"},
                                                           {"instructions", "Instructions"},
                                                           {"memory_read_bytes", "Read from memory"},
                                                           {"memory_written_bytes", "Written to memory"}};
  const auto found = words.find(quantity);
  return found == words.end() ? quantity : found->second;
}

/// The unit that the name of a quantity ends with.
std::string unit_of(const std::string& quantity) {
  const std::string unit = quantity.substr(quantity.rfind('_') + 1);
  return unit == "hz" ? "Hz" : unit == "w" ? "W" : unit == "celsius" ? "degrees Celsius" : unit;
}

/// Least, median and largest of many sensors at each reading: 64 lines tell nothing.
TimeSeries summarised(const TimeSeries& all) {
  std::map<double, std::vector<double>> by_second;
  for (const auto& [name, points] : all)
    for (const PlotPoint& point : points) by_second[std::floor(point.x)].push_back(point.y);
  TimeSeries three;
  for (auto& [second, values] : by_second) {
    std::sort(values.begin(), values.end());
    three["least"].push_back({second, values.front()});
    three["median"].push_back({second, values[values.size() / 2]});
    three["largest"].push_back({second, values.back()});
  }
  return three;
}

/// Counters as rates between two readings.
std::vector<PlotPoint> rate(const std::vector<PlotPoint>& counts) {
  std::vector<PlotPoint> rates;
  for (std::size_t i = 1; i < counts.size(); ++i)
    if (counts[i].x > counts[i - 1].x && counts[i].y >= counts[i - 1].y)
      rates.push_back({counts[i].x, (counts[i].y - counts[i - 1].y) / (counts[i].x - counts[i - 1].x)});
  return rates;
}

void add_sensor_panels(const std::map<std::string, std::string>& files, CampaignTimeline& timeline) {
  std::map<std::string, TimeSeries> quantities;
  for (const auto& [path, text] : files) {
    if (!core::begins_with(path, "monitoring/")) continue;
    core::CsvReader csv(core::TextStream(text), path);
    const std::size_t host = csv.column("host"), time = csv.column("time_s"), quantity = csv.column("quantity"),
                      sensor = csv.column("sensor"), value = csv.column("value");
    while (csv.next())
      quantities[std::string(csv.text(quantity))][std::string(csv.text(host)) + " " + std::string(csv.text(sensor))]
          .push_back({csv.number(time), csv.number(value)});
  }
  for (auto& [quantity, series] : quantities) {
    TimePanel panel{quantity_words(quantity), unit_of(quantity), "", std::move(series), true};
    if (quantity == "throttle_count" || core::ends_with(quantity, "_bytes") || core::ends_with(quantity, "_errors") ||
        quantity == "stolen_s" || quantity == "instructions") {
      TimeSeries rates;
      for (auto& [name, points] : panel.series) {
        std::sort(points.begin(), points.end(), [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
        auto one = rate(points);
        const bool any = std::any_of(one.begin(), one.end(), [](const PlotPoint& point) { return point.y > 0; });
        if (any) rates[name] = std::move(one);
      }
      panel.series = std::move(rates);
      panel.unit += " per s";
    }
    const std::size_t sensors = panel.series.size();
    if (sensors > most_time_series) {
      panel.series = summarised(panel.series);
      panel.note = "Of " + std::to_string(sensors) + " sensors";
    }
    timeline.add(std::move(panel));
  }
}

/// Every so many, so that no more than so many are left; a line keeps the least and the largest value in between.
std::vector<PlotPoint> every_so_many(const std::vector<PlotPoint>& points, bool is_line) {
  const std::size_t step = points.size() / most_drawn_points + 1, stretch = is_line && step > 1 ? 2 * step : step;
  std::vector<PlotPoint> kept;
  for (std::size_t i = 0; i < points.size(); i += stretch) {
    const std::size_t end = is_line ? std::min(i + stretch, points.size()) : i + 1;
    const auto [least, most] = std::minmax_element(&points[i], points.data() + end,
                                                   [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    kept.push_back(*std::min(least, most));
    if (least != most) kept.push_back(*std::max(least, most));
  }
  return kept;
}

std::string time_figure_html(const TimePanel& panel, const CampaignTimeline& timeline, std::size_t number) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const auto& [name, points] : panel.series) {
    for (const PlotPoint& point : points) {
      least = std::min(least, point.y);
      most = std::max(most, point.y);
    }
  }
  const double room = most > least ? 0.05 * (most - least) : std::max(0.05 * std::abs(most), 1e-9);
  const PlotSize size{760, 240, 96, 14, 28, 48};
  Figure figure("time-" + std::to_string(number), panel.title,
                {"time since the campaign began [s]", timeline.begin_s, timeline.end_s},
                {panel.unit, least >= 0 ? std::max(0.0, least - room) : least - room, most + room}, size);
  std::size_t colour = 0;
  for (const auto& [name, points] : panel.series) {
    if (colour == most_time_series) break;
    const std::string css = "s" + std::to_string(++colour) + "-line";
    if (panel.joined)
      figure.line(every_so_many(points, true), css);
    else
      figure.dots(every_so_many(points, false), css + " dots");
    figure.legend.push_back({panel.joined ? css : css + " dots", panel.joined ? Marker::line : Marker::dot, name});
  }
  const PlotSize& drawn = figure.size();  // its left edge fits the names of its axis
  std::string attributes = attribute("class", "time");
  for (const auto& [name, value] : {std::pair<const char*, double>{"min", timeline.begin_s},
                                    {"max", timeline.end_s},
                                    {"left", drawn.left},
                                    {"right", drawn.width - drawn.right},
                                    {"top", drawn.top},
                                    {"bottom", drawn.height - drawn.bottom}})
    attributes += attribute(std::string("data-") + name, core::shortest(value));
  const std::size_t left_out = panel.series.size() > most_time_series ? panel.series.size() - most_time_series : 0;
  return "<figure>\n<h3>" + core::xml_escaped(panel.title) + "</h3>\n" + legend_html(figure.legend) +
         "<div class=\"wide\">" + figure.svg(attributes) + "</div>\n" +
         (panel.note.empty() && left_out == 0
              ? ""
              : "<figcaption>" + core::xml_escaped(panel.note) +
                    (left_out > 0 ? " (" + std::to_string(left_out) + " more are not drawn)" : "") +
                    "</figcaption>\n") +
         "</figure>\n";
}

}  // namespace

void write_campaign_page(std::ostream& out, const std::map<std::string, std::string>& files, const std::string& name) {
  CampaignTimeline timeline;
  const auto control = files.find(core::campaign_control_file);
  if (control != files.end()) timeline.add(control_panel(control->second));
  for (const auto& [path, text] : files)
    if (core::begins_with(path, "measurements/") && core::ends_with(path, ".csv"))
      add_measurement(path, text, timeline);
  add_sensor_panels(files, timeline);
  if (timeline.panels.empty())
    throw core::ParseError({name, 0, ""},
                           "neither measurements nor sensors with times; expected an archive of `hplcast calibrate`");
  std::string content;
  if (control != files.end()) content = "<p class=\"lead\">" + control_verdict(control->second) + "</p>\n";
  content +=
      "<p class=\"note\">All diagrams have one axis of time. Select a span in one of them to see it larger in all; a "
      "double click shows everything again. A drift or a minute that something disturbed stands below each "
      "other.</p>\n";
  for (std::size_t i = 0; i < timeline.panels.size(); ++i)
    content += time_figure_html(timeline.panels[i], timeline, i + 1);
  out << html_page("Measurements of " + name + " over time", content, Script::selects_time);
}

}  // namespace hplcast::study
