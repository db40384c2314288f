#include "report_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/anova.hpp"
#include "hplcast/study/compare.hpp"
#include "html_table.hpp"
#include "markup.hpp"
#include "report_plots.hpp"
#include "svg_plot.hpp"

namespace hplcast::study {

namespace {

std::string percent(double ratio) {
  return (ratio > 0 ? "+" : "") + with_decimals(100 * ratio, 1) + " %";
}

std::string level_of(const SweepResult& result, const std::string& factor) {
  for (const Setting& setting : result.factors) {
    if (setting.factor == factor) return setting.value;
  }
  return "";
}

/// Factors with two levels or more, in the order of the plan.
std::vector<std::string> varied_factors(const std::vector<SweepResult>& results) {
  std::vector<std::string> names;
  for (const SweepResult& result : results) {
    for (const Setting& setting : result.factors) {
      if (std::find(names.begin(), names.end(), setting.factor) == names.end()) names.push_back(setting.factor);
    }
  }
  const auto one_level = [&](const std::string& name) {
    return std::all_of(results.begin(), results.end(),
                       [&](const auto& r) { return level_of(r, name) == level_of(results.front(), name); });
  };
  names.erase(std::remove_if(names.begin(), names.end(), one_level), names.end());
  return names;
}

/// The number in a level: "4:slowest" is 4, "none" of a number of hosts is 0; "2x8" and names are none.
std::optional<double> number_in(const std::string& factor, const std::string& level) {
  // Numbers of HPL that stand for names are no quantities.
  static const std::set<std::string> names = {"BCAST", "SWAP", "PFACT", "RFACT", "PMAP", "L1", "U", "EQUIL"};
  if (names.count(factor) > 0) return std::nullopt;
  if (level == "none" && factor.size() > 6 && factor.substr(factor.size() - 6) == "-nodes") return 0;
  double value = 0;
  if (core::parse_double(level.substr(0, level.find(':')), value)) return value;
  return std::nullopt;
}

using Curve = std::map<double, std::vector<double>>;  ///< number to rates

std::string curve_figure(const std::string& id, const std::string& title, const std::string& axis, const Curve& curve) {
  const double first = curve.begin()->first, last = curve.rbegin()->first;
  double low = curve.begin()->second.front(), high = low;
  std::vector<PlotPoint> line;
  for (const auto& [x, rates] : curve) {
    low = std::min(low, *std::min_element(rates.begin(), rates.end()));
    high = std::max(high, *std::max_element(rates.begin(), rates.end()));
    line.push_back({x, median(rates)});
  }
  const double x_margin = 0.05 * (last - first), y_margin = 0.08 * std::max(high - low, 0.01 * high);
  SvgPlot plot(id, title, {axis, first - x_margin, last + x_margin}, {"Gflop/s", low - y_margin, high + y_margin});
  plot.line(line, "predicted-line");
  for (const auto& [x, rates] : curve) {
    for (const double rate : rates) {
      plot.marker({x, rate}, Marker::diamond, "predicted",
                  axis + " " + readable(x) + ": " + readable(rate) + " Gflop/s");
    }
  }
  return "<figure>\n<h3>" + core::xml_escaped(title) + "</h3>\n" + plot.svg() + "</figure>\n";
}

std::string factor_plots(const std::vector<SweepResult>& results, const std::vector<std::string>& factors) {
  std::string figures;
  std::size_t number = 0;
  for (const std::string& factor : factors) {
    Curve curve;
    bool all_numbers = true;
    for (const SweepResult& result : results) {
      const auto value = number_in(factor, level_of(result, factor));
      all_numbers = all_numbers && value;
      if (value) curve[*value].push_back(result.prediction.gflops);
    }
    if (all_numbers && curve.size() > 1) {
      figures += curve_figure("factor-" + std::to_string(++number), factor, factor, curve);
    }
  }
  if (figures.empty()) return "";
  return "<h2>Gflop/s over each factor</h2>\n<p class=\"note\">Marks: predictions; line: their median at each level, "
         "over all "
         "other factors. The axis of Gflop/s does not start at 0.</p>\n<div class=\"plots\">\n" +
         figures + "</div>\n";
}

using Grid = std::pair<int, int>;

std::string heat_map(const std::map<Grid, std::vector<double>>& grids, const std::set<int>& rows,
                     const std::set<int>& columns) {
  double low = median(grids.begin()->second), high = low;
  for (const auto& [grid, rates] : grids) {
    low = std::min(low, median(rates));
    high = std::max(high, median(rates));
  }
  std::string html = "<div class=\"wide\"><table class=\"heat\">\n<tr><th>P \\ Q</th>";
  for (const int Q : columns) html += "<th>" + std::to_string(Q) + "</th>";
  html += "</tr>\n";
  for (const int P : rows) {
    html += "<tr><th>" + std::to_string(P) + "</th>";
    for (const int Q : columns) {
      const auto found = grids.find({P, Q});
      if (found == grids.end()) {
        html += "<td></td>";
        continue;
      }
      const double rate = median(found->second);
      const double share = high > low ? (rate - low) / (high - low) : 1;
      html += "<td style=\"background:color-mix(in srgb,var(--measured) " + with_decimals(8 + 52 * share, 0) +
              "%,transparent)\">" + readable(rate) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string grid_plots(const std::vector<SweepResult>& results) {
  std::map<Grid, std::vector<double>> grids;
  std::set<int> rows, columns;
  for (const SweepResult& result : results) {
    const core::HplParameters& p = result.prediction.parameters;
    grids[{p.P, p.Q}].push_back(result.prediction.gflops);
    rows.insert(p.P);
    columns.insert(p.Q);
  }
  if (grids.size() < 2) return "";
  const std::string title = "<h2>Gflop/s over the process grid</h2>\n";
  constexpr std::size_t most_columns = 16;
  const bool filled = 2 * grids.size() > rows.size() * columns.size() && columns.size() <= most_columns;
  if (filled) {
    return title + "<p class=\"note\">Medians over all other factors; the deeper the colour, the faster.</p>\n" +
           heat_map(grids, rows, columns);
  }
  Curve curve;
  for (const auto& [grid, rates] : grids) {
    auto& here = curve[std::log2(static_cast<double>(grid.first) / grid.second)];
    here.insert(here.end(), rates.begin(), rates.end());
  }
  std::string best;
  double most = 0;
  for (const auto& [grid, rates] : grids) {
    if (median(rates) > most) best = std::to_string(grid.first) + " x " + std::to_string(grid.second);
    most = std::max(most, median(rates));
  }
  return title +
         "<p class=\"note\">0 is a square grid, 2 one with P = 4 Q. The fastest in the median: P x Q = " + best +
         ".</p>\n<div class=\"plots\">\n" + curve_figure("grid", "shape of the grid", "log2(P / Q)", curve) +
         "</div>\n";
}

std::string influence_table(const std::vector<SweepResult>& results) {
  std::vector<Configuration> factors;
  std::vector<double> rates;
  for (const SweepResult& result : results) {
    factors.push_back(result.factors);
    rates.push_back(result.prediction.gflops);
  }
  const Anova analysis = anova(factors, rates);
  if (analysis.rows.empty()) return "";
  HtmlTable table({"factor", "share of the variance", "p", "effect of each level"});
  for (const AnovaRow& row : analysis.rows) {
    std::string effects;
    constexpr std::size_t most_levels = 12;
    for (const auto& [level, effect] : row.effects) {
      if (row.effects.size() <= most_levels) effects += (effects.empty() ? "" : ", ") + level + ": " + percent(effect);
    }
    const std::string p = row.f <= 0 ? "" : row.p_value < 1e-4 ? "< 0.0001" : with_decimals(row.p_value, 4);
    table.add({row.name, with_decimals(100 * row.share, 1) + " %", p, effects});
  }
  return "<h2>Influence of the factors</h2>\n<p class=\"note\">Analysis of variance of log Gflop/s" +
         std::string(analysis.balanced ? ""
                                       : "; not every combination of levels is there equally often: shares overlap") +
         ". Effects: mean at the level over the mean of all. Residual: " +
         with_decimals(100 * analysis.residual_share, 1) + " % with " + std::to_string(analysis.residual_freedom) +
         " degrees of freedom.</p>\n" + table.html();
}

std::string result_table(const std::vector<const SweepResult*>& order, const std::vector<std::string>& factors) {
  std::vector<std::string> header = {"Gflop/s", "time [s]"};
  header.insert(header.end(), factors.begin(), factors.end());
  header.insert(header.end(), {"seed", "N", "simulated in [s]"});
  HtmlTable table(header);
  constexpr std::size_t most_rows = 2000;  // more make a page slow; the database has them
  for (std::size_t i = 0; i < std::min(most_rows, order.size()); ++i) {
    const core::Prediction& p = order[i]->prediction;
    std::vector<std::string> row = {readable(p.gflops), readable(p.time_s)};
    for (const std::string& factor : factors) row.push_back(level_of(*order[i], factor));
    row.insert(row.end(), {std::to_string(p.seed), std::to_string(p.parameters.N), readable(p.wall_s, 3)});
    table.add(row);
  }
  const std::string cut = order.size() > most_rows
                              ? "<p class=\"note\">The " + std::to_string(most_rows) + " fastest of " +
                                    std::to_string(order.size()) + "; <code>hplcast sweep export</code> has all.</p>\n"
                              : "";
  return "<h2>All results</h2>\n" + cut + table.html();
}

}  // namespace

std::string sweep_html(const std::vector<SweepResult>& results) {
  if (results.empty()) return "";
  std::vector<const SweepResult*> order;
  for (const SweepResult& result : results) order.push_back(&result);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->prediction.gflops > b->prediction.gflops; });
  const auto factors = varied_factors(results);
  std::string html = "<p class=\"lead\">" + std::to_string(results.size()) + " predictions, from " +
                     readable(order.back()->prediction.gflops) + " to " + readable(order.front()->prediction.gflops) +
                     " Gflop/s.</p>\n<p>The fastest: <code>" + core::xml_escaped(to_string(order.front()->factors)) +
                     "</code>. The slowest: <code>" + core::xml_escaped(to_string(order.back()->factors)) +
                     "</code>.</p>\n";
  return html + factor_plots(results, factors) + grid_plots(results) + influence_table(results) +
         result_table(order, factors);
}

}  // namespace hplcast::study
