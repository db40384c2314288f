#include "cli/fit/fit_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/support/output.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::cli {

namespace {

using Style = PlotSeries::Style;

constexpr std::size_t most_points = 4000;  // more only make the file larger

const core::DurationLaw& law_at(const fit::KernelFit& fit, const core::KernelShape& shape) {
  return fit.model.cluster_law().at(shape);
}

/// Calls of the sample, evenly picked.
std::vector<fit::SampledCall> some_calls(const fit::KernelTable& table) {
  const std::vector<fit::SampledCall>& sample = table.sample();
  const std::size_t step = sample.size() / most_points + 1;
  std::vector<fit::SampledCall> calls;
  for (std::size_t i = 0; i < sample.size(); i += step) calls.push_back(sample[i]);
  return calls;
}

/// What the shapes are drawn along: the split of pieces, else the first product that is not the constant.
core::Monomial main_product(const fit::KernelFit& fit) {
  if (fit.pieces.size() > 1) return fit.model.cluster_law().split();
  for (const core::Monomial& term : fit.pieces.front().mu.polynomial.terms())
    if (term != core::Monomial{}) return term;
  return {1, 1, 1};
}

PlotPanel expectation_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{
      "Measured and expected durations: good if along the line", "expected [s]", "measured [s]", true, true, {}, {}};
  PlotSeries calls{"calls", Style::points, {}}, equal{"equal", Style::line, {}};
  double least = HUGE_VAL, most = 0;
  for (const fit::SampledCall& call : some_calls(table)) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    const double expected = law_at(fit, shape).mean_s(shape);
    calls.values.emplace_back(expected, call.duration_s);
    least = std::min(least, expected > 0 ? expected : least);
    most = std::max(most, expected);
  }
  equal.values = {{least, least}, {most, most}};
  panel.series = {calls, equal};
  return panel;
}

PlotPanel residual_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  const core::Monomial product = main_product(fit);
  PlotPanel panel{"Relative residuals of the shapes: good if around 0",
                  to_string(product),
                  "mean duration / expected - 1",
                  true,
                  false,
                  {},
                  {}};
  PlotSeries shapes{"shapes", Style::points, {}}, zero{"", Style::line, {}};
  const std::size_t step = table.shapes().size() / most_points + 1;
  double least = HUGE_VAL, most = 0;
  for (std::size_t i = 0; i < table.shapes().size(); i += step) {
    const fit::ShapeSummary& one = table.shapes()[i];
    const double where = product(one.shape);
    shapes.values.emplace_back(where, one.mean_s / law_at(fit, one.shape).mean_s(one.shape) - 1);
    least = std::min(least, where);
    most = std::max(most, where);
  }
  zero.values = {{least, 0}, {most, 0}};
  for (std::size_t i = 1; i < fit.pieces.size(); ++i) panel.breaks.push_back(fit.pieces[i].from);
  panel.series = {shapes, zero};
  return panel;
}

/// Durations in standard deviations from the expected one: their histogram, and the density that the model gives them
/// (the mean over the calls drawn, since families that are not scaled copies of one law differ from shape to shape).
PlotPanel noise_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  constexpr double from = -4, to = 8;
  constexpr int bins = 96, curve_calls = 50;
  constexpr double width = (to - from) / bins;
  PlotPanel panel{"Scatter of calls: good if the histogram follows the model",
                  "(duration - expected) / standard deviation",
                  "density",
                  false,
                  false,
                  {},
                  {}};
  const std::vector<fit::SampledCall> calls = some_calls(table);
  std::vector<double> counts(bins, 0.0);
  for (const fit::SampledCall& call : calls) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    const core::DurationLaw& law = law_at(fit, shape);
    const double z = (call.duration_s - law.mean_s(shape)) / law.sd_s(shape);
    if (z >= from && z < to) counts[static_cast<std::size_t>((z - from) / width)] += 1;
  }
  PlotSeries histogram{"calls", Style::steps, {}}, density{"model", Style::line, {}};
  for (int bin = 0; bin < bins; ++bin) {
    const double middle = from + (bin + 0.5) * width;
    histogram.values.emplace_back(middle,
                                  counts[static_cast<std::size_t>(bin)] / (static_cast<double>(calls.size()) * width));
    double sum = 0, drawn = 0;
    for (std::size_t i = 0; i < calls.size(); i += calls.size() / curve_calls + 1) {
      const core::KernelShape& shape = table.shapes()[calls[i].shape].shape;
      const core::DurationLaw& law = law_at(fit, shape);
      drawn += 1;
      if (!(law.sd_s(shape) > 0)) continue;
      sum += fit::duration_density(law, shape, law.mean_s(shape) + middle * law.sd_s(shape)) * law.sd_s(shape);
    }
    density.values.emplace_back(middle, sum / drawn);
  }
  panel.series = {histogram, density};
  return panel;
}

PlotPanel sigma_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{"Standard deviation of repeated shapes: good if along the line",
                  "sigma of the model [s]",
                  "measured [s]",
                  true,
                  true,
                  {},
                  {}};
  PlotSeries shapes{"shapes", Style::points, {}}, equal{"equal", Style::line, {}};
  double least = HUGE_VAL, most = 0;
  for (const fit::ShapeSummary& one : table.shapes()) {
    const double sigma = law_at(fit, one.shape).sd_s(one.shape);
    if (one.count < 3 || !(sigma > 0) || shapes.values.size() >= most_points) continue;
    shapes.values.emplace_back(sigma, std::sqrt(one.variance_s2()));
    least = std::min(least, sigma);
    most = std::max(most, sigma);
  }
  equal.values = {{least, least}, {most, most}};
  panel.series = {shapes, equal};
  return panel;
}

}  // namespace

Picture kernel_picture(const std::string& title, const fit::KernelTable& table, const fit::KernelFit& fit) {
  Picture picture{title + " (" + fit.model.level() + ")", {expectation_panel(table, fit), residual_panel(table, fit)}};
  const bool noisy =
      std::any_of(fit.model.cluster_law().pieces().begin(), fit.model.cluster_law().pieces().end(),
                  [](const core::LawPiece& piece) { return piece.law.noise() != core::NoiseFamily::none; });
  if (!noisy) return picture;
  picture.panels.push_back(noise_panel(table, fit));
  PlotPanel sigma = sigma_panel(table, fit);
  if (!sigma.series.front().values.empty()) picture.panels.push_back(std::move(sigma));
  return picture;
}

namespace {

/// Means by size.
PlotSeries data_series(const SegmentsToDraw& drawn) {
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
