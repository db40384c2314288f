#include "study/report/report_sections.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/core/text.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t most_series = 6;   // colours and marks that can be told apart
constexpr std::size_t most_levels = 12;  // names beside each other on an axis

/// Rates of one series at the places of the axis.
struct Series {
  std::string name;
  std::map<double, std::vector<double>> rates;
};

bool has_number_axis(const ViewFactor& factor) {
  return factor.numbers.size() > 2;
}

using Factors = std::vector<const ViewFactor*>;

std::vector<std::size_t> levels_at(const Factors& factors, std::size_t i) {
  return core::mapped(factors, [&](const ViewFactor* factor) { return factor->of[i]; });
}

std::size_t combinations(const Factors& factors, const std::vector<std::size_t>& chosen) {
  std::set<std::vector<std::size_t>> different;
  for (const std::size_t i : chosen) different.insert(levels_at(factors, i));
  return different.size();
}

/// A series for each combination of levels of `apart`.
std::vector<Series> series_of(const std::vector<SweepResult>& results, const std::vector<std::size_t>& chosen,
                              const ViewFactor& x, const Factors& apart, const Response& response) {
  std::map<std::vector<std::size_t>, Series> series;
  for (const std::size_t i : chosen) {
    Series& one = series[levels_at(apart, i)];
    if (one.rates.empty()) {
      for (const ViewFactor* factor : apart)
        one.name += (one.name.empty() ? "" : "; ") + factor->name + ": " + factor->levels[factor->of[i]];
      // The title names the only one; a level of a list says nothing more with its many names.
      if (apart.size() == 1) {
        const ViewFactor& only = *apart.front();
        one.name = (only.numbers.empty() ? "" : only.name + " ") + only.levels[only.of[i]];
      }
    }
    const double place = has_number_axis(x) ? x.numbers[x.of[i]] : static_cast<double>(x.of[i]);
    one.rates[place].push_back(response.of(results[i].prediction));
  }
  std::vector<Series> list;
  for (auto& [levels, one] : series) list.push_back(std::move(one));
  return list;
}

PlotAxis axis_of(const ViewFactor& x, const std::vector<Series>& series) {
  double first = series.front().rates.begin()->first, last = first;
  for (const Series& one : series) {
    first = std::min(first, one.rates.begin()->first);
    last = std::max(last, one.rates.rbegin()->first);
  }
  if (has_number_axis(x)) {
    const double margin = 0.05 * std::max(last - first, 1e-9);
    return {x.full_name(), first - margin, last + margin, {}};
  }
  PlotAxis axis{x.full_name(), -0.5, static_cast<double>(x.levels.size()) - 0.5, {}};
  // Long names beside each other would run into each other: every name has its share of the width.
  constexpr double axis_width = 344, letter_width = 6.5;
  const auto letters = static_cast<std::size_t>(axis_width / letter_width / static_cast<double>(x.levels.size()));
  for (std::size_t i = 0; i < x.levels.size(); ++i) {
    const std::string& name = x.levels[i];
    axis.ticks.push_back({static_cast<double>(i), name.size() > letters ? name.substr(0, letters - 1) + "." : name});
  }
  return axis;
}

PlotAxis rate_axis(const std::vector<Series>& series, const Response& response = gflops_response) {
  double low = series.front().rates.begin()->second.front(), high = low;
  for (const Series& one : series) {
    for (const auto& [x, rates] : one.rates) {
      low = std::min(low, *std::min_element(rates.begin(), rates.end()));
      high = std::max(high, *std::max_element(rates.begin(), rates.end()));
    }
  }
  const double margin = 0.08 * std::max(high - low, 0.01 * high);
  return {response.name, low - margin, high + margin, {}};
}

Marker marker_of(std::size_t index) {
  constexpr Marker shapes[] = {Marker::diamond, Marker::circle, Marker::square, Marker::triangle};
  return shapes[index % std::size(shapes)];
}

Figure curves(const std::string& name, const std::string& title, const ViewFactor& x, const std::vector<Series>& series,
              const Response& response) {
  Figure plot(name, title, axis_of(x, series), rate_axis(series, response));
  const bool numbers = has_number_axis(x);
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::string css = "s" + std::to_string(s + 1);
    // Marks of different series at one name stand side by side.
    const double shift = numbers ? 0 : 0.7 * (static_cast<double>(s) + 0.5) / static_cast<double>(series.size()) - 0.35;
    std::vector<PlotPoint> line;
    for (const auto& [at, rates] : series[s].rates) {
      const double middle = median(rates);
      line.push_back({at, middle});
      if (numbers) continue;
      const double half = 0.3 / static_cast<double>(series.size());
      plot.line({{at + shift - half, middle}, {at + shift + half, middle}}, css + "-line");
    }
    if (numbers) plot.line(line, css + "-line");
    for (const auto& [at, rates] : series[s].rates) {
      const std::string level = numbers ? readable(at) : x.levels[static_cast<std::size_t>(at)];
      for (const double rate : rates)
        plot.marker({at + shift, rate}, marker_of(s), css,
                    x.name + " " + level + (series[s].name.empty() ? "" : "; " + series[s].name) + ": " +
                        readable(rate) + " " + response.name);
    }
    if (series.size() > 1) plot.legend.push_back({css, marker_of(s), series[s].name});
  }
  return plot;
}

/// Letters, digits and "-" of a factor's name, for the name of a file.
std::string plain(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      text += c;
    } else if (!text.empty() && text.back() != '-') {
      text += '-';
    }
  }
  while (!text.empty() && text.back() == '-') text.pop_back();
  return text;
}

/// The factors whose levels are shown apart in the figure over `x`: all others, if these have few combinations, or its
/// partner.
Factors apart_of(const ViewFactor& x, const std::vector<ViewFactor>& factors,
                 const std::map<std::string, std::string>& partners) {
  Factors others, partner;
  std::size_t crossed = 1;
  const auto known = partners.find(x.name);
  for (const ViewFactor& other : factors) {
    if (&other == &x || other.is_order()) continue;
    others.push_back(&other);
    crossed *= other.levels.size();
    if (known != partners.end() && known->second == other.name) partner = {&other};
  }
  return crossed > most_series && !partner.empty() ? partner : others;
}

/// Rates of different N cannot be compared: those of the largest.
std::vector<SweepResult> of_largest_order(const std::vector<SweepResult>& results) {
  long long largest = 0;
  for (const SweepResult& result : results) largest = std::max(largest, result.prediction.parameters.N);
  std::vector<SweepResult> list;
  for (const SweepResult& result : results)
    if (result.prediction.parameters.N == largest) list.push_back(result);
  return list;
}

/// Numbers beside each other in their order.
PlotAxis axis_of(const std::string& name, const std::set<int>& numbers) {
  PlotAxis axis{name, -0.5, static_cast<double>(numbers.size()) - 0.5, {}, false, false};
  for (const int number : numbers)
    axis.ticks.push_back({static_cast<double>(axis.ticks.size()), std::to_string(number)});
  return axis;
}

Figure heat_map(const std::map<ProcessGrid, double>& grids, const std::set<int>& rows, const std::set<int>& columns) {
  constexpr double left = 44, top = 26, bottom = 50, wide = 58, high = 30;
  const auto by_rate = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [low, most] = std::minmax_element(grids.begin(), grids.end(), by_rate);
  PlotAxis down = axis_of("P", rows);
  std::swap(down.min, down.max);  // the least above
  Figure plot("grid", "Median Gflop/s for P (down) and Q (across)", axis_of("Q", columns), down,
              {left + wide * static_cast<double>(columns.size()),
               top + bottom + high * static_cast<double>(rows.size()), left, 0, top, bottom});
  for (const auto& [grid, rate] : grids) {
    const auto x = static_cast<double>(std::distance(columns.begin(), columns.find(grid.second)));
    const auto y = static_cast<double>(std::distance(rows.begin(), rows.find(grid.first)));
    const double range = most->second - low->second, share = range > 0 ? (rate - low->second) / range : 1;
    plot.bar({x - 0.5, y - 0.5}, {x + 0.5, y + 0.5}, "cell", "", 0.08 + 0.52 * share);
    plot.text({x, y}, "on-cell", readable(rate));
  }
  plot.caption = "The deeper the colour, the faster.";
  // Shrunk to a phone, many columns could not be read: below its own width it is scrolled.
  const double width = plot.size().width;
  plot.style =
      "max-width:" + coordinate(1.3 * width) + "px;min-width:" + coordinate(std::min(0.8 * width, 900.0)) + "px";
  return plot;
}

double shape_of(const ProcessGrid& grid) {
  return std::log2(static_cast<double>(grid.first) / grid.second);
}

/// The rate over the shape, with the names of some grids on the axis.
Figure shape_figure(const std::map<ProcessGrid, double>& grids, const std::vector<SweepResult>& results) {
  std::map<double, ProcessGrid> by_shape;
  for (const auto& [grid, rate] : grids) by_shape.emplace(shape_of(grid), grid);
  const double first = by_shape.begin()->first, range = std::max(by_shape.rbegin()->first - first, 1e-9);
  std::vector<Series> series(1);
  for (const SweepResult& result : results)
    series.front().rates[shape_of(grid_of(result.prediction.parameters))].push_back(result.prediction.gflops);
  PlotAxis axis{"P x Q, from flat to tall", first - 0.05 * range, first + 1.05 * range, {}};
  constexpr double room = 0.17;  // of a name, as a part of the axis
  double next = first;
  for (const auto& [shape, grid] : by_shape) {
    if (shape < next) continue;
    axis.ticks.push_back({shape, grid_name(grid)});
    next = shape + room * range;
  }
  Figure plot("grid", "Gflop/s over the shape of the grid", axis, rate_axis(series));
  std::vector<PlotPoint> line;
  for (const auto& [shape, rates] : series.front().rates) line.push_back({shape, median(rates)});
  plot.line(line, "s1-line");
  for (const SweepResult& result : results) {
    const ProcessGrid grid = grid_of(result.prediction.parameters);
    plot.marker({shape_of(grid), result.prediction.gflops}, Marker::diamond, "s1",
                grid_name(grid) + ": " + readable(result.prediction.gflops) + " Gflop/s");
  }
  return plot;
}

}  // namespace

std::vector<Figure> factor_figures(const std::vector<SweepResult>& results, const std::vector<ViewFactor>& factors,
                                   const std::map<std::string, std::string>& partners, const Response& response) {
  const ViewFactor* order = order_factor(factors);
  const std::size_t largest = order != nullptr ? order->levels.size() - 1 : 0;
  std::vector<Figure> figures;
  for (const ViewFactor& x : factors) {
    if (x.name == "grid" || (!has_number_axis(x) && x.levels.size() > most_levels)) continue;
    const bool split = order != nullptr && order != &x;
    // The largest N is the one that the machine is used for; a table has the best of the others.
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!split || order->of[i] == largest) chosen.push_back(i);
    Factors apart = apart_of(x, factors, partners);
    if (combinations(apart, chosen) > most_series) apart.clear();
    const std::string by = apart.size() == 1 ? ", by " + apart.front()->name : "";
    const std::string at = split ? ", N = " + order->levels[largest] : "";
    figures.push_back(curves(response.file + plain(x.name) + (split ? "-N" + order->levels[largest] : ""),
                             std::string(response.name) + " over " + x.name + by + at, x,
                             series_of(results, chosen, x, apart, response), response));
  }
  return figures;
}

std::map<ProcessGrid, double> grid_rates(const std::vector<SweepResult>& results) {
  std::map<ProcessGrid, std::vector<double>> rates;
  for (const SweepResult& result : of_largest_order(results))
    rates[grid_of(result.prediction.parameters)].push_back(result.prediction.gflops);
  std::map<ProcessGrid, double> medians;
  for (const auto& [grid, values] : rates) medians.emplace(grid, median(values));
  return medians;
}

std::vector<Figure> grid_figures(const std::vector<SweepResult>& all, const std::vector<ViewFactor>& factors) {
  const std::vector<SweepResult> results = of_largest_order(all);
  const bool asked = std::any_of(factors.begin(), factors.end(), [](const ViewFactor& factor) {
    return factor.name == "grid" || factor.name == "P" || factor.name == "Q";
  });
  const std::map<ProcessGrid, double> grids = grid_rates(results);
  std::set<int> rows, columns;
  for (const auto& [grid, rate] : grids) {
    rows.insert(grid.first);
    columns.insert(grid.second);
  }
  if (!asked || grids.size() < 2) return {};
  constexpr std::size_t most_columns = 16;
  const bool filled = 2 * grids.size() > rows.size() * columns.size() && columns.size() <= most_columns;
  if (filled && rows.size() > 1 && columns.size() > 1) return {heat_map(grids, rows, columns)};
  const bool by_shape = std::any_of(factors.begin(), factors.end(), [](const auto& f) { return f.name == "grid"; });
  if (!by_shape) return {};  // one side only: a factor with a figure of its own
  return {shape_figure(grids, results)};
}

}  // namespace hplcast::study
