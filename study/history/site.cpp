#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <map>
#include <ostream>

#include "hplcast/core/files.hpp"
#include "hplcast/core/statistics.hpp"
#include "study/history/loaded_factor.hpp"
#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

using core::day_s;
constexpr std::size_t cells_of_page = 60000;  // of an overview, in two pictures: about 1.3 MB
constexpr std::size_t runs_of_page = 24000;   // in the plots of a host: about 1.1 MB
constexpr std::size_t rows_of_table = 1000;   // the newest

/// Look of a cell of an overview: its class, paler for what is less far off. Shades are 1 to 3 on either side.
std::string cell_look(CellKind kind, int shade) {
  if (kind != CellKind::inside || shade == 0) return to_string(kind);
  return std::string(shade < 0 ? "below" : "above") + " shade-" + std::to_string(std::abs(shade));
}

/// "CLUSTER-NAME", of no two the same: letters, digits, ".", "_" and the name's "-" as they are, others as "_2f", and
/// "_" where it could begin such a one.
std::string file_stem(const std::string& cluster, const std::string& name) {
  const std::string both = cluster + "-" + name, plain = "._-";
  std::string stem;
  for (std::size_t i = 0; i < both.size(); ++i) {
    const auto c = static_cast<unsigned char>(both[i]);
    constexpr const char* digits = "0123456789abcdef";
    const bool begins_code = c == '_' && i + 2 < both.size() && both.find_first_not_of(digits, i + 1) > i + 2;
    const bool is_plain = std::isalnum(c) != 0 || plain.find(both[i]) < (i < cluster.size() ? 2U : 3U);
    stem += is_plain && !begins_code ? both.substr(i, 1) : core::printed("_%02x", c);
  }
  return stem;
}

std::string host_page(const Place& place) {
  return "host-" + file_stem(place.cluster, place.host) + ".html";
}

std::string overview_page(const std::string& cluster, const std::string& factor, std::size_t part) {
  return "overview-" + file_stem(cluster, factor) + (part == 0 ? "" : "-" + std::to_string(part + 1)) + ".html";
}

struct TimeRange {
  std::int64_t begin_s = 0, end_s = 1;
};

TimeRange range_of(const std::vector<const ShownSeries*>& series) {
  TimeRange range{series.front()->history->time_s.front(), series.front()->history->time_s.back()};
  for (const ShownSeries* one : series) {
    range.begin_s = std::min(range.begin_s, one->history->time_s.front());
    range.end_s = std::max(range.end_s, one->history->time_s.back());
  }
  return range;
}

constexpr double plot_width = 720;

double seconds(std::int64_t time_s) {
  return static_cast<double>(time_s);
}

/// Four dates below the axis.
PlotAxis time_axis(const TimeRange& time) {
  PlotAxis axis{"", seconds(time.begin_s), seconds(std::max(time.end_s, time.begin_s + 1)), {}, false, false};
  for (int i = 0; i <= 3; ++i) {
    const std::int64_t time_s = time.begin_s + (time.end_s - time.begin_s) * i / 3;
    axis.ticks.push_back({seconds(time_s), date_text(time_s)});
  }
  return axis;
}

void draw_changes(Figure& plot, const std::vector<Change>& changes, const TimeRange& time, const PlotAxis& y) {
  for (const Change& change : changes) {
    if (change.time_s < time.begin_s || change.time_s > time.end_s) continue;
    plot.line({{seconds(change.time_s), y.min}, {seconds(change.time_s), y.max}}, "change",
              date_text(change.time_s) + " " + change.type + ": " + change.description);
  }
}

/// Shows all values but wild outliers.
PlotAxis value_axis(const ShownSeries& series) {
  std::vector<double> values;
  for (std::size_t i = 0; i < series.kinds.size(); ++i)
    if (series.kinds[i] != CellKind::outlier) values.push_back(series.history->value[i]);
  if (values.empty()) values = series.history->value;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double margin = std::max((*high - *low) * 0.15, 1e-3 * std::abs(*high) + 1e-300);
  PlotAxis axis{"", *low - margin, *high + margin};
  for (const double at : {axis.min, (axis.min + axis.max) / 2, axis.max})
    axis.ticks.push_back({at, core::printed("%.4g", at)});
  return axis;
}

/// Long histories are shown from some time on.
std::size_t first_shown(const ShownSeries& series, const TimeRange& time) {
  const auto& times = series.history->time_s;
  return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time.begin_s) - times.begin());
}

/// The region of each run as an area, interrupted where nothing was tested.
void draw_band(Figure& plot, const ShownSeries& series, std::size_t i, const PlotAxis& y) {
  while (i < series.own.size()) {
    std::vector<PlotPoint> outline, lower;
    for (; i < series.own.size() && series.own[i].region != fit::Region::untested; ++i) {
      const fit::RunScore& score = series.own[i];
      const double at = seconds(series.history->time_s[i]);
      outline.push_back({at, std::clamp(score.expected + score.half_width, y.min, y.max)});
      lower.push_back({at, std::clamp(score.expected - score.half_width, y.min, y.max)});
    }
    outline.insert(outline.end(), lower.rbegin(), lower.rend());
    if (!outline.empty()) plot.area(outline, "band");
    ++i;
  }
}

void draw_values(Figure& plot, const ShownSeries& series, std::size_t first, const PlotAxis& y) {
  std::vector<PlotPoint> plain;
  for (std::size_t i = first; i < series.kinds.size(); ++i) {
    const double value = series.history->value[i];
    const PlotPoint at{seconds(series.history->time_s[i]), std::clamp(value, y.min, y.max)};
    const CellKind kind = series.kinds[i];
    if (kind == CellKind::inside || kind == CellKind::untested) {
      plain.push_back(at);
      continue;
    }
    plot.line({at, at}, to_string(kind) + std::string(" flag"),
              date_text(series.history->time_s[i]) + ": " + core::printed("%.4g", value));
  }
  plot.dots(plain, "s6-line dots");
}

/// Values over time with the region that earlier runs predict, changes as lines, flagged runs and outliers marked.
/// `id`: of this plot in its page.
std::string evolution_html(const std::string& id, const ShownSeries& series, const TimeRange& time,
                           const std::vector<Change>& changes, const std::string& title) {
  const PlotAxis y = value_axis(series);
  Figure plot(id, title, time_axis(time), y, {plot_width, 190, 0, 0, 10, 24});
  const std::size_t first = first_shown(series, time);
  draw_band(plot, series, first, y);
  draw_changes(plot, changes, time, y);
  draw_values(plot, series, first, y);
  return plot.stretched();
}

/// Each run over the median of its CPU: within 1 %; 1 to 2, 5, 10 % and more on either side; as looks of cells.
std::vector<std::string> raw_looks(const ShownSeries& series) {
  const double median = core::upper_median(series.history->value);
  std::vector<std::string> looks;
  for (const double value : series.history->value) {
    const double off = std::abs(value - median) / std::max(std::abs(median), 1e-300);
    const int shade = off < 0.01 ? 0 : off < 0.02 ? 1 : off < 0.05 ? 2 : off < 0.1 ? 3 : 4;
    looks.push_back(shade == 4 ? to_string(value < median ? CellKind::below : CellKind::above)
                               : cell_look(CellKind::inside, value < median ? -shade : shade));
  }
  return looks;
}

std::vector<std::string> verdict_looks(const ShownSeries& series) {
  std::vector<std::string> looks;
  for (std::size_t i = 0; i < series.kinds.size(); ++i) looks.push_back(cell_look(series.kinds[i], series.shades[i]));
  return looks;
}

/// One row per CPU, one cell per run; rows are links to pages.
std::string overview_html(const std::string& id, const std::string& title, const std::vector<const ShownSeries*>& rows,
                          const TimeRange& time, const std::vector<Change>& changes,
                          std::vector<std::string> (*looks_of)(const ShownSeries&)) {
  constexpr double row_height = 15, top = 6, bottom = 24;
  constexpr int cell = 4;
  const auto height = static_cast<double>(rows.size());
  PlotAxis cpus{"", height - 0.5, -0.5, {}, false, false};  // the first above
  for (const ShownSeries* row : rows)
    cpus.ticks.push_back({static_cast<double>(cpus.ticks.size()), to_string(row->place), host_page(row->place)});
  Figure plot(id, title, time_axis(time), cpus, {plot_width, top + row_height * height + bottom, 0, 0, top, bottom});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Cells of one kind are one element: hundreds of CPUs and years must fit a page.
    std::map<std::string, std::vector<PlotPoint>> cells;
    const std::vector<std::string> looks = looks_of(*rows[i]);
    for (std::size_t run = 0; run < looks.size(); ++run)
      cells[looks[run]].push_back({seconds(rows[i]->history->time_s[run]), static_cast<double>(i)});
    // Flagged runs are drawn last, over their neighbours.
    for (const bool flagged : {false, true})
      for (const auto& [look, points] : cells)
        if ((look == "below" || look == "above") == flagged) plot.dots(points, "verdict " + look, cell);
  }
  draw_changes(plot, changes, time, cpus);
  return plot.stretched();
}

/// How the newest values of all CPUs are distributed.
std::string histogram_html(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) return "";
  constexpr int bins = 16;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double begin = *low, span = std::max(*high - *low, 1e-9 * std::abs(*high) + 1e-300);
  int counts[bins] = {};
  for (const double value : values) ++counts[std::min(bins - 1, static_cast<int>(bins * (value - begin) / span))];
  Figure plot("newest", "How they are distributed", {unit, begin, begin + span},
              {"CPUs", 0, 1.0 * *std::max_element(counts, counts + bins)}, {420, 210});
  for (int i = 0; i < bins; ++i)
    plot.bar({begin + (i + 0.04) * span / bins, 0}, {begin + (i + 0.96) * span / bins, 1.0 * counts[i]}, "inside",
             std::to_string(counts[i]));
  return figures_html({plot});
}

class Site {
 public:
  Site(const HistoryDatabase& database, const CheckOptions& options, std::filesystem::path folder)
      : options_(options), folder_(std::move(folder)), changes_(database.changes()) {}

  void add_cluster(const FactorLoader& loader, const std::string& cluster) {
    std::deque<ShownFactor> factors;  // which stay where they are
    for (const std::string& name : loader.factors()) {
      LoadedFactor loaded = loader.load(cluster, name);
      if (!loaded.places.empty()) show(std::move(loaded), options_, factors.emplace_back());
    }
    for (const ShownFactor& factor : factors) add_overview(cluster, factor);
    add_hosts(factors);
  }

  void add_index(const HistoryCheck& check) {
    const std::string nothing = "<p>None.</p>\n";
    std::string html = "<p>" + core::counted(check.campaigns, "campaign") +
                       (check.newest_s ? ", the newest of " + date_text(*check.newest_s) : "") + ", " +
                       std::to_string(check.tests) + " tests.</p>\n<h2>What needs attention</h2>\n";
    html += findings_table(check, true);
    if (check.open() == 0) html += nothing;
    for (const MissingHost& one : check.missing)
      html += "<p class=\"bad\">" + core::xml_escaped(check.where({one.cluster, one.host, -1})) + " " +
              missing_text(one) + ".</p>\n";
    for (const std::string& note : check.notes) html += "<p class=\"note\">" + core::xml_escaped(note) + "</p>\n";
    html +=
        section("All CPUs over time") + "<p>" + overviews_ + "</p>\n" + section("Hosts") + "<p>" + hosts_ + "</p>\n";
    const std::string past = findings_table(check, false);
    html += "<h2>Past findings</h2>\n" + (past.empty() ? nothing : past) + "<h2>Changes</h2>\n";
    HtmlTable table({"date", "cluster", "hosts", "type", "what"}, "texts stacked");
    for (const Change& change : changes_)
      table.add({date_text(change.time_s), change.cluster, change.hosts, change.type, change.description});
    write("index.html", "Has a node changed?", html + table.html());
  }

  SiteSize size() const { return size_; }

 private:
  void write(const std::string& name, const std::string& title, const std::string& content) {
    const std::string page = html_page(title, content, Script::none);
    core::write_file(folder_ / name, [&](std::ostream& out) { out << page; });
    ++size_.pages;
    size_.largest_bytes = std::max(size_.largest_bytes, page.size());
  }

  std::vector<Change> changes_of(const Place& place) const {
    std::vector<Change> result;
    for (const Change& change : changes_)
      if (is_about(change.cluster, change.hosts, place)) result.push_back(change);
    return result;
  }

  static void add_link(std::string& links, const std::string& one) {
    links += (links.empty() ? "" : " &middot; ") + one;
  }

  void add_overview(const std::string& cluster, const ShownFactor& factor) {
    std::vector<const ShownSeries*> all;
    std::vector<double> newest;
    for (const ShownSeries& one : factor.series) all.push_back(&one);
    const TimeRange time = range_of(all);
    for (const ShownSeries* one : all)
      if (time.end_s - one->history->time_s.back() <= 7 * day_s) newest.push_back(one->history->value.back());
    const std::string title = (cluster.empty() ? "" : cluster + ": ") + factor.loaded.factor;
    std::vector<std::vector<const ShownSeries*>> pages(1);
    std::size_t cells = 0;
    for (const ShownSeries* one : all) {
      cells += one->kinds.size();
      if (cells > cells_of_page && !pages.back().empty()) {
        pages.emplace_back();
        cells = one->kinds.size();
      }
      pages.back().push_back(one);
    }
    const std::size_t parts = pages.size();
    for (std::size_t part = 0; part < parts; ++part) {
      std::string html = "<nav>" + link("index.html", "What needs attention");
      for (std::size_t other = 0; parts > 1 && other < parts; ++other)
        html += " &middot; " +
                link(overview_page(cluster, factor.loaded.factor, other), "part " + std::to_string(other + 1));
      const std::vector<Change> changes = changes_of({cluster, "", -1});
      html +=
          "</nav>\n" + key_of_overview() +
          "<p class=\"note\">Paler on either side: unlikely, not flagged (likelihood below 0.1, 0.01, "
          "0.001).</p>\n" +
          overview_html("verdicts", "verdicts of all CPUs over time", pages[part], time, changes, verdict_looks) +
          section(
              "Raw values",
              "Each run over the median of its CPU: less than 1 % off as expected, then 1, 2, 5 and 10 % and more.") +
          overview_html("raw", "values over the median of the CPU", pages[part], time, changes, raw_looks);
      if (part == 0)
        html += "<h2>Newest runs of " + std::to_string(newest.size()) + " CPUs</h2>\n" +
                histogram_html(newest, factor.unit);
      write(overview_page(cluster, factor.loaded.factor, part), title, html);
    }
    add_link(overviews_, link(overview_page(cluster, factor.loaded.factor, 0), title));
  }

  static std::string key_of_overview() {
    return legend_html({{"inside", Marker::square, "as expected"},
                        {"below", Marker::square, "below"},
                        {"above", Marker::square, "above"},
                        {"untested", Marker::square, "too few earlier runs"},
                        {"s6", Marker::square, "logged outlier"},
                        {"change", Marker::line, "logged change"}});
  }

  static std::string key_of_host() {
    return legend_html({{"s6-line dots", Marker::dot, "run"},
                        {"below", Marker::circle, "below"},
                        {"above", Marker::circle, "above"},
                        {"band", Marker::square, "expected"},
                        {"outlier flag", Marker::dot, "logged outlier"},
                        {"change", Marker::line, "logged change"}});
  }

  void add_hosts(const std::deque<ShownFactor>& factors) {
    std::map<std::string, std::vector<const ShownSeries*>> hosts;
    std::vector<std::string> order;  // that of the series
    for (const ShownFactor& factor : factors) {
      for (const ShownSeries& one : factor.series) {
        if (hosts.count(one.place.host) == 0) order.push_back(one.place.host);
        hosts[one.place.host].push_back(&one);
      }
    }
    for (const std::string& host : order) {
      const std::vector<const ShownSeries*>& all = hosts.at(host);
      std::string html =
          "<nav>" + link("index.html", "What needs attention") + "</nav>\n" + key_of_host() +
          "<p class=\"note\">Expected: where the CPU's own earlier runs let expect the next. A flagged run "
          "may lie inside: then it differs from the other CPUs.</p>\n";
      TimeRange time = range_of(all);
      const std::size_t most = std::max<std::size_t>(500, runs_of_page / all.size());
      for (const ShownSeries* one : all) {
        const std::size_t runs = one->kinds.size();
        if (runs > most) time.begin_s = std::max(time.begin_s, one->history->time_s[runs - most]);
      }
      std::size_t plots = 0;
      for (const ShownSeries* one : all) {
        const std::string title = to_string(one->place) + ", " + one->factor->loaded.factor + ", " + one->factor->unit;
        const std::string id = "values-" + std::to_string(++plots);
        html += "<h3>" + core::xml_escaped(title) + "</h3>\n" +
                evolution_html(id, *one, time, changes_of(one->place), title);
      }
      const std::string page = host_page(all.front()->place);
      write(page, host, html + rows_of(all));
      add_link(hosts_, link(page, host));
    }
  }

  /// The newest rows, newest first.
  static std::string rows_of(const std::vector<const ShownSeries*>& all) {
    std::vector<std::pair<std::int64_t, std::vector<std::string>>> rows;
    for (const ShownSeries* one : all) {
      for (std::size_t i = 0; i < one->kinds.size(); ++i) {
        const std::int64_t time_s = one->history->time_s[i];
        rows.push_back({time_s,
                        {date_text(time_s), std::to_string(one->place.cpu), one->factor->loaded.factor,
                         core::printed("%.6g", one->history->value[i]), to_string(one->kinds[i])}});
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (rows.size() > rows_of_table) rows.resize(rows_of_table);
    HtmlTable table({"date", "CPU", "factor", "value", "verdict"}, "texts");
    for (const auto& row : rows) table.add(row.second);
    return "<details><summary>The newest " + std::to_string(rows.size()) + " values</summary>" + table.html() +
           "</details>\n";
  }

  /// Columns that say nothing are left out.
  std::string findings_table(const HistoryCheck& check, bool open) const {
    std::vector<std::string> header = {"where",      "effect",    open ? "since" : "from", "factor", "also",
                                       "first told", "by chance", "nearest change"};
    std::vector<std::vector<std::string>> rows;
    for (const FindingEvent& event : check.events()) {
      const HistoryFinding& one = check.findings[event.first];
      if (one.finding.open != open) continue;
      const bool of_all = one.place.host.empty();
      const std::string where =
          link(of_all ? overview_page(one.cluster, one.factor, 0) : host_page(one.place), check.where(one.place));
      std::string also;
      for (const std::string& text : also_texts(check, event))
        also += (also.empty() ? "" : "<br>") + core::xml_escaped(text);
      const std::string last = open ? "" : " to " + date_text(one.finding.last_s);
      rows.push_back({where, core::signed_percent(one.finding.effect), date_text(one.finding.since_s) + last,
                      core::xml_escaped(one.factor), also, one.told_s ? date_text(*one.told_s) : "",
                      core::xml_escaped(probability_text(one.finding.probability)),
                      one.nearest
                          ? core::xml_escaped(one.nearest->description) + " (" + date_text(one.nearest->time_s) + ")"
                          : ""});
    }
    for (std::size_t column = header.size(); column-- > 0;) {
      if (!std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row[column].empty(); })) continue;
      const auto at = static_cast<std::ptrdiff_t>(column);
      header.erase(header.begin() + at);
      for (auto& row : rows) row.erase(row.begin() + at);
    }
    HtmlTable table(header, "texts stacked");
    for (const auto& row : rows) table.add_html(row);
    return table.is_empty() ? "" : table.html();
  }

  const CheckOptions& options_;
  std::filesystem::path folder_;
  std::vector<Change> changes_;
  std::string overviews_, hosts_;
  SiteSize size_;
};

}  // namespace

SiteSize write_site(const HistoryDatabase& database, const CheckOptions& options, const std::filesystem::path& folder) {
  const HistoryCheck check = check_history(database, options);
  const FactorLoader loader(database, options);
  Site site(database, options, folder);
  for (const std::string& cluster : loader.clusters()) site.add_cluster(loader, cluster);
  site.add_index(check);
  return site.size();
}

}  // namespace hplcast::study
