#include "segments_picture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/fit/gaussian_mixture.hpp"
#include "output.hpp"

namespace hplcast::cli {

namespace {

using Style = PlotSeries::Style;

/// Means by size.
PlotSeries data_series(const SegmentsToDraw& drawn) {
  constexpr std::size_t most_points = 4000;  // more only make the file larger
  PlotSeries series{"mean of a size", Style::points, {}};
  const std::size_t step = drawn.cells.size() / most_points + 1;
  for (std::size_t i = 0; i < drawn.cells.size(); i += step) {
    const fit::SizeCell& cell = drawn.cells[i];
    series.values.emplace_back(std::max(cell.size, 0.5), cell.mean);  // size 0 is drawn left of 1
  }
  return series;
}

/// The line of a segment between the sizes measured, bent by logarithmic axes.
std::vector<std::pair<double, double>> segment_curve(const SegmentsToDraw& drawn, std::size_t index) {
  constexpr int steps = 60;
  const auto& segments = drawn.segments;
  const double least = std::max(0.5, drawn.cells.front().size), most = std::max(least, drawn.cells.back().size);
  const double from = std::max(least, segments[index].min);
  const double to = index + 1 < segments.size() ? std::min(most, segments[index + 1].min) : most;
  std::vector<std::pair<double, double>> values;
  for (int i = 0; i <= steps && to >= from; ++i) {
    const double x = from * std::pow(to / from, static_cast<double>(i) / steps);
    values.emplace_back(x, segments[index](x));
  }
  return values;
}

std::vector<double> breaks_of(const SegmentsToDraw& drawn) {
  std::vector<double> breaks;
  for (std::size_t i = 1; i < drawn.segments.size(); ++i) breaks.push_back(drawn.segments[i].min);
  return breaks;
}

PlotPanel data_panel(const SegmentsToDraw& drawn) {
  PlotPanel panel{"Measured and fitted", drawn.x_name,    drawn.y_name, true, true,
                  {data_series(drawn)},  breaks_of(drawn)};
  PlotSeries fit{"fit", Style::line, {}};
  for (std::size_t i = 0; i < drawn.segments.size(); ++i) {
    const auto curve = segment_curve(drawn, i);
    fit.values.insert(fit.values.end(), curve.begin(), curve.end());
  }
  panel.series.push_back(std::move(fit));
  return panel;
}

PlotPanel residual_panel(const SegmentsToDraw& drawn) {
  PlotPanel panel{
      "Relative residuals: good if around 0", drawn.x_name, "mean / fit - 1", true, false, {}, breaks_of(drawn)};
  PlotSeries residuals = data_series(drawn);
  for (auto& [x, y] : residuals.values) y = y / fit::segment_at(drawn.segments, x)(x) - 1;
  PlotSeries zero{"", Style::line, {{residuals.values.front().first, 0}, {residuals.values.back().first, 0}}};
  panel.series = {std::move(residuals), std::move(zero)};
  return panel;
}

/// Density of core::half_normal(mean, sd) at x.
double half_normal_density(double mean, double sd, double x) {
  constexpr double pi = 3.14159265358979323846;
  const double scale = sd / std::sqrt(1 - 2 / pi);
  const double z = (x - mean) / scale + std::sqrt(2 / pi);
  return z < 0 ? 0 : std::sqrt(2 / pi) * std::exp(-z * z / 2) / scale;
}

PlotPanel noise_panel(const fit::FittedSegment& segment, const fit::SegmentNoise& noise) {
  std::vector<double> sorted = noise.sample;
  const int bins = std::clamp(static_cast<int>(4 * std::cbrt(sorted.size())), 16, 80);
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  // A few calls far out would leave one bin for all others.
  const double from = at(0.005), to = std::max(at(0.99), from + std::numeric_limits<double>::min()),
               width = (to - from) / bins;
  PlotPanel panel{
      "Scatter from " + significant(segment.min) + " on", "duration - fit [s]", "density [1/s]", false, false, {}, {}};
  std::vector<double> counts(static_cast<std::size_t>(bins), 0.0);
  for (double residual : sorted)
    if (residual >= from && residual < to)
      counts[std::min(counts.size() - 1, static_cast<std::size_t>((residual - from) / width))] += 1;
  PlotSeries histogram{"calls", Style::steps, {}};
  PlotSeries density{noise.modes.empty() ? "half-normal" : "mixture", Style::line, {}};
  for (int bin = 0; bin < bins; ++bin)
    histogram.values.emplace_back(from + (bin + 0.5) * width,
                                  counts[static_cast<std::size_t>(bin)] / (static_cast<double>(sorted.size()) * width));
  constexpr int steps = 400;  // modes may be narrow
  for (int i = 0; i <= steps; ++i) {
    const double x = from + (to - from) * i / steps;
    density.values.emplace_back(
        x, noise.modes.empty() ? half_normal_density(noise.mean, noise.sd, x) : fit::mixture_density(noise.modes, x));
  }
  panel.series = {std::move(histogram), std::move(density)};
  return panel;
}

}  // namespace

Picture segments_picture(const SegmentsToDraw& drawn) {
  constexpr std::size_t most_noise_panels = 6;
  Picture picture{drawn.title, {}};
  if (drawn.cells.empty()) return picture;
  picture.panels = {data_panel(drawn), residual_panel(drawn)};
  for (std::size_t i = 0; i < std::min(most_noise_panels, drawn.noise.size()); ++i)
    if (drawn.noise[i].sd > 0) picture.panels.push_back(noise_panel(drawn.segments[i], drawn.noise[i]));
  return picture;
}

}  // namespace hplcast::cli
