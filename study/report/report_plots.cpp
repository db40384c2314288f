#include "study/report/report_sections.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

/// A shape for each grid; with more grids than shapes all get the same one.
std::map<ProcessGrid, Marker> markers_of(const std::vector<ComparedConfiguration>& rows) {
  const std::vector<Marker> shapes = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond};
  std::map<ProcessGrid, Marker> markers;
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

struct GridRates {
  std::vector<const ComparedConfiguration*> rows;
  std::map<int, std::map<long long, std::vector<double>>> predicted;  ///< by NB and N
};

/// NB with its mark: the same for all where they are too many, or only one.
struct BlockMarks {
  explicit BlockMarks(const GridRates& rates) {
    for (const auto& [NB, by_N] : rates.predicted) sizes.insert(NB);
    for (const auto* row : rates.rows) sizes.insert(row->parameters.NB);
  }
  bool differ() const { return sizes.size() > 1 && sizes.size() <= 4; }
  Marker of(int NB, Marker otherwise) const {
    constexpr Marker shapes[] = {Marker::diamond, Marker::circle, Marker::square, Marker::triangle};
    return differ() ? shapes[static_cast<std::size_t>(std::distance(sizes.begin(), sizes.find(NB)))] : otherwise;
  }

  std::set<int> sizes;
};

void add_legend(Figure& plot, const GridRates& rates, const BlockMarks& marks) {
  const auto add = [&](const char* css_class, Marker shared, const std::string& name, const std::string& note) {
    if (!marks.differ()) return plot.legend.push_back({css_class, shared, name + " (" + note + ")"});
    for (const int NB : marks.sizes)
      plot.legend.push_back({css_class, marks.of(NB, shared), name + ", NB " + std::to_string(NB)});
  };
  if (!rates.rows.empty()) add("measured", Marker::circle, "measured", "median, smallest to largest");
  add("predicted", Marker::diamond, "predicted", "line: median");
}

Figure grid_figure(const ProcessGrid& grid, const GridRates& rates) {
  double max_N = 0, max_rate = 0;
  for (const auto& [NB, by_N] : rates.predicted) {
    for (const auto& [N, gflops] : by_N) {
      max_N = std::max(max_N, static_cast<double>(N));
      max_rate = std::max(max_rate, *std::max_element(gflops.begin(), gflops.end()));
    }
  }
  for (const auto* row : rates.rows) max_rate = std::max(max_rate, row->real_gflops.back());
  const std::string name = grid_name(grid, " x ");
  const std::string id = "rate-" + grid_name(grid);
  Figure plot(id, "Gflop/s over N on a grid of " + name, {"N", 0, 1.06 * max_N}, {"Gflop/s", 0, 1.08 * max_rate});
  plot.heading = "P x Q = " + name;
  const BlockMarks marks(rates);
  std::map<int, std::map<long long, std::vector<double>>> lines;
  for (const auto& [NB, by_N] : rates.predicted) {
    auto& of_line = lines[marks.differ() ? NB : 0];
    for (const auto& [N, gflops] : by_N) of_line[N].insert(of_line[N].end(), gflops.begin(), gflops.end());
  }
  for (const auto& [NB, by_N] : lines) {
    std::vector<PlotPoint> line;
    for (const auto& [N, gflops] : by_N) line.push_back({static_cast<double>(N), median(gflops)});
    plot.line(line, "predicted-line");
  }
  for (const auto& [NB, by_N] : rates.predicted)
    for (const auto& [N, gflops] : by_N)
      for (const double rate : gflops)
        plot.marker({static_cast<double>(N), rate}, marks.of(NB, Marker::diamond), "predicted",
                    "N=" + std::to_string(N) + " NB=" + std::to_string(NB) + " " + name + ": predicted " +
                        readable(rate) + " Gflop/s");
  for (const auto* row : rates.rows) {
    const auto N = static_cast<double>(row->parameters.N);
    plot.line({{N, row->real_gflops.front()}, {N, row->real_gflops.back()}}, "measured-range");
    plot.marker({N, row->real_median}, marks.of(row->parameters.NB, Marker::circle), "measured",
                measured_and_predicted(*row));
  }
  add_legend(plot, rates, marks);
  if (marks.differ()) plot.caption = "Lines: medians of the predictions.";
  return plot;
}

// --- sampled predictions

/// Neighbouring panels as a part of the curve.
struct CurvePart {
  double from = 0, to = 0;  ///< remaining order of the matrix at its end and at its begin
  double gflops = 0, least_gflops = 0, most_gflops = 0;
  bool simulated = false;
  double middle() const { return (from + to) / 2; }
};

CurvePart part_of(const core::PanelCost& cost, const core::HplParameters& p) {
  const auto remaining = [&](int panel) {
    return std::max(0.0, static_cast<double>(p.N) - static_cast<double>(panel) * p.NB);
  };
  CurvePart part;
  part.to = remaining(cost.first_panel);
  part.from = remaining(cost.first_panel + cost.panels);
  const double gflop = (core::hpl_flop(part.to) - core::hpl_flop(part.from)) / 1e9;
  constexpr double least_share = 0.1;  // of the time: a bar that is wider than the time has no rate
  part.gflops = gflop / cost.time_s;
  const double error_95_s = cost.error_95_s.value_or(0);
  part.least_gflops = gflop / (cost.time_s + error_95_s);
  part.most_gflops = gflop / std::max(cost.time_s - error_95_s, least_share * cost.time_s);
  part.simulated = error_95_s == 0;
  return part;
}

/// By falling remaining order, as HPL goes.
std::vector<CurvePart> parts_of(const core::Prediction& prediction) {
  std::vector<CurvePart> parts;
  for (const auto* costs : {&prediction.sampling->windows, &prediction.sampling->pieces})
    for (const core::PanelCost& cost : *costs)
      if (cost.time_s > 0) parts.push_back(part_of(cost, prediction.parameters));
  std::sort(parts.begin(), parts.end(), [](const CurvePart& a, const CurvePart& b) { return a.to > b.to; });
  return parts;
}

/// `most`: where the band is cut.
void draw_parts(Figure& plot, const std::vector<CurvePart>& parts, double all_gflops, double N, double most) {
  std::vector<PlotPoint> curve;
  for (const CurvePart& part : parts) {
    curve.push_back({part.middle(), part.gflops});
    if (part.simulated) continue;
    const double above = std::min(part.most_gflops, most);
    plot.area({{part.from, part.least_gflops}, {part.to, part.least_gflops}, {part.to, above}, {part.from, above}},
              "band");
  }
  plot.line({{0, all_gflops}, {N, all_gflops}}, "identity");
  plot.line(curve, "predicted-line");
  for (const CurvePart& part : parts) {
    if (!part.simulated) continue;
    plot.line({{part.from, part.gflops}, {part.to, part.gflops}}, "measured-range");
    plot.marker({part.middle(), part.gflops}, Marker::circle, "measured",
                "remaining order " + with_decimals(part.to, 0) + " to " + with_decimals(part.from, 0) + ": " +
                    readable(part.gflops) + " Gflop/s");
  }
}

}  // namespace

std::string grid_name(const ProcessGrid& grid, const std::string& between) {
  return std::to_string(grid.first) + between + std::to_string(grid.second);
}

std::string short_name(const core::HplParameters& p) {
  return "N=" + std::to_string(p.N) + " NB=" + std::to_string(p.NB) + " " + grid_name(grid_of(p)) +
         " BCAST=" + std::to_string(p.BCAST) + " DEPTH=" + std::to_string(p.DEPTH) + " SWAP=" + std::to_string(p.SWAP);
}

std::optional<Figure> predicted_over_measured(const std::vector<ComparedConfiguration>& rows, double band) {
  if (rows.size() < 2) return std::nullopt;
  double low = rows.front().predicted_median;
  double high = low;
  for (const auto& row : rows) {
    low = std::min({low, row.predicted_median, row.real_gflops.front()});
    high = std::max({high, row.predicted_median, row.real_gflops.back()});
  }
  low *= 0.9;
  high *= 1.07;
  Figure plot("identity", "Predicted over measured Gflop/s", {"measured [Gflop/s]", low, high},
              {"predicted [Gflop/s]", low, high});
  plot.area({{low, low},
             {low / (1 - band), low},
             {high, high * (1 - band)},
             {high, high},
             {high / (1 + band), high},
             {low, low * (1 + band)}},
            "band");
  plot.line({{low, low}, {high, high}}, "identity");
  const auto markers = markers_of(rows);
  for (const auto& row : rows)
    plot.line({{row.real_gflops.front(), row.predicted_median}, {row.real_gflops.back(), row.predicted_median}},
              "range");
  for (const auto& row : rows)
    plot.marker({row.real_median, row.predicted_median}, markers.at(grid_of(row.parameters)), "measured",
                measured_and_predicted(row));
  std::set<Marker> shapes;
  for (const auto& entry : markers) shapes.insert(entry.second);
  if (shapes.size() > 1)
    for (const auto& [grid, marker] : markers)
      plot.legend.push_back({"measured", marker, "P x Q = " + grid_name(grid, " x ")});
  plot.caption = "Line: predicted equals measured. Band: within " + readable(100 * band, 2) +
                 " %. Bars: smallest to largest measured run.";
  return plot;
}

std::vector<Figure> rate_over_size(const std::vector<ComparedConfiguration>& rows,
                                   const std::vector<core::Prediction>& predictions) {
  std::map<ProcessGrid, GridRates> grids;
  for (const auto& prediction : predictions)
    grids[grid_of(prediction.parameters)].predicted[prediction.parameters.NB][prediction.parameters.N].push_back(
        prediction.gflops);
  for (const auto& row : rows) grids[grid_of(row.parameters)].rows.push_back(&row);
  std::vector<Figure> figures;
  for (const auto& [grid, rates] : grids) {
    std::set<long long> orders;
    for (const auto& [NB, by_N] : rates.predicted)
      for (const auto& [N, gflops] : by_N) orders.insert(N);
    if (orders.size() > 1) figures.push_back(grid_figure(grid, rates));
  }
  return figures;
}

std::vector<std::string> sampled_cells(const core::Prediction& prediction) {
  if (!prediction.sampling) return {"", "all"};
  return {core::readable_percent(prediction.error_95_s / prediction.time_s, 2),
          core::readable_percent(prediction.sampling->share)};
}

std::string sampling_note(const std::vector<core::Prediction>& predictions) {
  std::size_t sampled = 0;
  double error = 0;
  for (const core::Prediction& one : predictions) {
    if (!one.sampling) continue;
    ++sampled;
    error = std::max(error, one.error_95_s / one.time_s);
  }
  if (sampled == 0) return "";
  return "<p class=\"note\">" + std::to_string(sampled) + " of " + std::to_string(predictions.size()) +
         " predictions " + (sampled == 1 ? "is" : "are") +
         " sampled: windows of the panels were simulated, and the rest was estimated. Their 95 % error, for what was "
         "left out, is at most " +
         core::readable_percent(error, 2) +
         " of the time. Their counts of calls, and where their time goes, are extrapolated.</p>\n";
}

std::vector<Figure> sampling_figures(const std::vector<NamedPrediction>& predictions, std::size_t most) {
  std::vector<Figure> figures;
  for (const auto& [title, prediction] : predictions) {
    if (!prediction->sampling || figures.size() == most) continue;
    const std::vector<CurvePart> parts = parts_of(*prediction);
    // Estimates of short pieces may have bands many times as high as the curve.
    constexpr double above = 1.3;
    double top = prediction->gflops, widest = 0;
    for (const CurvePart& part : parts) {
      top = std::max(top, part.gflops);
      widest = std::max(widest, part.most_gflops);
    }
    top = std::min(std::max(top, widest), above * top);
    const auto N = static_cast<double>(prediction->parameters.N);
    const std::string id = "windows-" + std::to_string(figures.size() + 1);
    Figure figure(id, "Gflop/s over the remaining order, " + title, {"remaining order of the matrix", 0, 1.03 * N},
                  {"Gflop/s", 0, 1.05 * top});
    draw_parts(figure, parts, prediction->gflops, N, 1.05 * top);
    figure.heading = title;
    figure.legend = {{"measured", Marker::circle, "simulated windows"},
                     {"predicted-line", Marker::line, "curve between them"},
                     {"band", Marker::square, "95 % band of its pieces"}};
    figure.caption =
        "HPL begins at the right. " + core::readable_percent(prediction->sampling->share) +
        " of the panels were simulated. Grey line: the whole run, " + readable(prediction->gflops) +
        " Gflop/s, 95 % error " + core::readable_percent(prediction->error_95_s / prediction->time_s, 2) +
        ". Pieces of the curve scatter more than the run." +
        (widest > 1.05 * top ? " The band is cut: it goes up to " + readable(widest, 2) + " Gflop/s." : "");
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace hplcast::study
