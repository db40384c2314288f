#include "study/report/report_sections.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

using Grid = std::pair<int, int>;

Grid grid_of(const core::HplParameters& parameters) {
  return {parameters.P, parameters.Q};
}

std::string name_of(const Grid& grid, const std::string& between) {
  return std::to_string(grid.first) + between + std::to_string(grid.second);
}

/// A shape for each grid; with more grids than shapes all get the same one.
std::map<Grid, Marker> markers_of(const std::vector<ComparedConfiguration>& rows) {
  const std::vector<Marker> shapes = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond};
  std::map<Grid, Marker> markers;
  for (const auto& row : rows) markers.emplace(grid_of(row.parameters), Marker::circle);
  if (markers.size() > shapes.size()) return markers;
  std::size_t next = 0;
  for (auto& [grid, marker] : markers) marker = shapes[next++];
  return markers;
}

std::string measured_and_predicted(const ComparedConfiguration& row) {
  return short_name(row.parameters) + ": measured " + readable(row.real_median) + " (" +
         readable(row.real_gflops.front()) + " to " + readable(row.real_gflops.back()) + "), predicted " +
         readable(row.predicted_median) + " Gflop/s";
}

/// Rates of one process grid.
struct GridRates {
  std::vector<const ComparedConfiguration*> rows;
  std::map<long long, std::vector<double>> predicted;  ///< by N
};

Figure grid_figure(const Grid& grid, const GridRates& rates) {
  double max_N = 0;
  double max_rate = 0;
  for (const auto& [N, gflops] : rates.predicted) {
    max_N = std::max(max_N, static_cast<double>(N));
    max_rate = std::max(max_rate, *std::max_element(gflops.begin(), gflops.end()));
  }
  for (const auto* row : rates.rows) max_rate = std::max(max_rate, row->real_gflops.back());
  const std::string name = name_of(grid, " x ");
  const std::string id = "rate-" + name_of(grid, "x");
  SvgPlot plot(id, "Gflop/s over N on a grid of " + name, {"N", 0, 1.06 * max_N, {}},
               {"Gflop/s", 0, 1.08 * max_rate, {}});
  std::vector<PlotPoint> line;
  for (const auto& [N, gflops] : rates.predicted) line.push_back({static_cast<double>(N), median(gflops)});
  plot.line(line, "predicted-line");
  for (const auto& [N, gflops] : rates.predicted) {
    for (const double rate : gflops) {
      plot.marker({static_cast<double>(N), rate}, Marker::diamond, "predicted",
                  "N=" + std::to_string(N) + " " + name + ": predicted " + readable(rate) + " Gflop/s");
    }
  }
  for (const auto* row : rates.rows) {
    const auto N = static_cast<double>(row->parameters.N);
    plot.line({{N, row->real_gflops.front()}, {N, row->real_gflops.back()}}, "measured-range");
    plot.marker({N, row->real_median}, Marker::circle, "measured", measured_and_predicted(*row));
  }
  Figure figure = make_figure("P x Q = " + name, plot);
  if (!rates.rows.empty()) {
    figure.legend.push_back({"measured", Marker::circle, "measured (median, smallest to largest)"});
  }
  figure.legend.push_back({"predicted", Marker::diamond, "predicted (line: median)"});
  return figure;
}

}  // namespace

std::string grid_name(const core::HplParameters& parameters) {
  return std::to_string(parameters.P) + "x" + std::to_string(parameters.Q);
}

std::string short_name(const core::HplParameters& p) {
  return "N=" + std::to_string(p.N) + " NB=" + std::to_string(p.NB) + " " + grid_name(p) +
         " BCAST=" + std::to_string(p.BCAST) + " DEPTH=" + std::to_string(p.DEPTH) + " SWAP=" + std::to_string(p.SWAP);
}

std::optional<Figure> predicted_over_measured(const std::vector<ComparedConfiguration>& rows, double band) {
  if (rows.empty()) return std::nullopt;
  double low = rows.front().predicted_median;
  double high = low;
  for (const auto& row : rows) {
    low = std::min({low, row.predicted_median, row.real_gflops.front()});
    high = std::max({high, row.predicted_median, row.real_gflops.back()});
  }
  low *= 0.9;
  high *= 1.07;
  const std::string title = "Predicted over measured Gflop/s";
  SvgPlot plot("identity", title, {"measured [Gflop/s]", low, high, {}}, {"predicted [Gflop/s]", low, high, {}});
  plot.area({{low, low * (1 - band)}, {high, high * (1 - band)}, {high, high * (1 + band)}, {low, low * (1 + band)}},
            "band");
  plot.line({{low, low}, {high, high}}, "identity");
  const auto markers = markers_of(rows);
  for (const auto& row : rows) {
    plot.line(
        {{row.real_gflops.front(), row.predicted_median}, {row.real_gflops.back(), row.predicted_median}},
        "range");
  }
  for (const auto& row : rows) {
    plot.marker({row.real_median, row.predicted_median}, markers.at(grid_of(row.parameters)), "measured",
                measured_and_predicted(row));
  }
  Figure figure = make_figure(title, plot);
  std::set<Marker> shapes;
  for (const auto& entry : markers) shapes.insert(entry.second);
  if (shapes.size() > 1) {
    for (const auto& [grid, marker] : markers) {
      figure.legend.push_back({"measured", marker, "P x Q = " + name_of(grid, " x ")});
    }
  }
  figure.caption = "Line: predicted equals measured. Band: within " + readable(100 * band, 2) +
                   " %. Bars: smallest to largest measured run.";
  return figure;
}

std::vector<Figure> rate_over_size(const std::vector<ComparedConfiguration>& rows,
                                   const std::vector<core::Prediction>& predictions) {
  std::map<Grid, GridRates> grids;
  for (const auto& prediction : predictions) {
    grids[grid_of(prediction.parameters)].predicted[prediction.parameters.N].push_back(prediction.gflops);
  }
  for (const auto& row : rows) grids[grid_of(row.parameters)].rows.push_back(&row);
  std::vector<Figure> figures;
  for (const auto& [grid, rates] : grids) figures.push_back(grid_figure(grid, rates));
  return figures;
}

}  // namespace hplcast::study
