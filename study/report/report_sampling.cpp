#include "study/report/report_sections.hpp"

#include <algorithm>
#include <cmath>

#include "study/plot/figure.hpp"
#include "study/plot/markup.hpp"

namespace hplcast::study {

namespace {

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
  part.least_gflops = gflop / (cost.time_s + cost.error_95_s);
  part.most_gflops = gflop / std::max(cost.time_s - cost.error_95_s, least_share * cost.time_s);
  part.simulated = cost.error_95_s == 0;
  return part;
}

/// By falling remaining order, as HPL goes.
std::vector<CurvePart> parts_of(const core::Prediction& prediction) {
  std::vector<CurvePart> parts;
  for (const auto* costs : {&prediction.sampling->windows, &prediction.sampling->pieces}) {
    for (const core::PanelCost& cost : *costs)
      if (cost.time_s > 0) parts.push_back(part_of(cost, prediction.parameters));
  }
  std::sort(parts.begin(), parts.end(), [](const CurvePart& a, const CurvePart& b) { return a.to > b.to; });
  return parts;
}

void draw(Figure& plot, const std::vector<CurvePart>& parts, double all_gflops, double N) {
  std::vector<PlotPoint> curve;
  for (const CurvePart& part : parts) {
    curve.push_back({part.middle(), part.gflops});
    if (part.simulated) continue;
    plot.area({{part.from, part.least_gflops},
               {part.to, part.least_gflops},
               {part.to, part.most_gflops},
               {part.from, part.most_gflops}},
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

bool any_sampled(const std::vector<const core::Prediction*>& predictions) {
  return std::any_of(predictions.begin(), predictions.end(), [](const auto* one) { return one->sampling.has_value(); });
}

std::vector<std::string> sampled_columns() {
  return {"95 % error", "panels simulated"};
}

std::vector<std::string> sampled_cells(const core::Prediction& prediction) {
  if (!prediction.sampling) return {"", "all"};
  return {core::readable_percent(prediction.error_95_s / prediction.time_s, 2),
          core::readable_percent(prediction.sampling->share)};
}

std::string sampling_note(const std::vector<const core::Prediction*>& predictions) {
  std::size_t sampled = 0;
  double error = 0;
  for (const core::Prediction* one : predictions) {
    if (!one->sampling) continue;
    ++sampled;
    error = std::max(error, one->error_95_s / one->time_s);
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
    double largest = prediction->gflops;
    for (const CurvePart& part : parts) largest = std::max({largest, part.gflops, part.most_gflops});
    const auto N = static_cast<double>(prediction->parameters.N);
    const std::string id = "windows-" + std::to_string(figures.size() + 1);
    Figure figure(id, "Gflop/s over the remaining order, " + title, {"remaining order of the matrix", 0, 1.03 * N},
                  {"Gflop/s", 0, 1.05 * largest});
    draw(figure, parts, prediction->gflops, N);
    figure.heading = title;
    figure.legend = {{"measured", Marker::circle, "simulated windows"},
                     {"predicted", Marker::square, "curve"},
                     {"band", Marker::square, "95 % band of its pieces"}};
    figure.caption = "HPL begins at the right. " + core::readable_percent(prediction->sampling->share) +
                     " of the panels were simulated. Grey line: the whole run, " + readable(prediction->gflops) +
                     " Gflop/s, 95 % error " + core::readable_percent(prediction->error_95_s / prediction->time_s, 2) +
                     ". Pieces of the curve scatter more than the run.";
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace hplcast::study
