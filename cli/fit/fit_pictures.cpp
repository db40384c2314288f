#include "cli/fit/fit_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/support/output.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::cli {

namespace {

using study::PlotPanel;
using study::PlotScale;
using study::PlotSeries;

const core::DurationLaw& law_at(const fit::KernelFit& fit, const core::KernelShape& shape) {
  return fit.model.cluster_law().at(shape);
}

/// What the shapes are drawn along: the split of pieces, else the first product that is not the constant.
core::Monomial main_product(const fit::KernelFit& fit) {
  if (fit.pieces.size() > 1) return fit.model.cluster_law().split();
  for (const core::Monomial& term : fit.pieces.front().mu.polynomial.terms())
    if (term != core::Monomial{}) return term;
  return {1, 1, 1};
}

PlotPanel expectation_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{"Measured and expected durations: good if along the line", "expected [s]", "measured [s]",
                  PlotScale::log_both};
  PlotSeries& calls = panel.points("calls");
  for (const fit::SampledCall& call : table.sample()) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    calls.add(law_at(fit, shape).mean_s(shape), call.duration_s);
  }
  panel.add_diagonal("equal");
  return panel;
}

PlotPanel kernel_residual_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  const core::Monomial product = main_product(fit);
  PlotPanel panel{"Relative residuals of the shapes: good if around 0", to_string(product),
                  "mean duration / expected - 1", PlotScale::log_x};
  PlotSeries& shapes = panel.points("shapes");
  for (const fit::ShapeSummary& one : table.shapes())
    shapes.add(product(one.shape), one.mean_s / law_at(fit, one.shape).mean_s(one.shape) - 1);
  panel.add_level(0);
  for (std::size_t i = 1; i < fit.pieces.size(); ++i) panel.breaks.push_back(fit.pieces[i].from);
  return panel;
}

/// Durations in standard deviations from the expected one: their histogram, and the density that the model gives them
/// (the mean over some calls, since families that are not scaled copies of one law differ from shape to shape).
PlotPanel kernel_noise_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  constexpr double from = -4, to = 8;
  constexpr int bins = 96, curve_calls = 50;
  PlotPanel panel{"Scatter of calls: good if the histogram follows the model",
                  "(duration - expected) / standard deviation", "density"};
  std::vector<double> deviations;
  for (const fit::SampledCall& call : table.sample()) {
    const core::KernelShape& shape = table.shapes()[call.shape].shape;
    const core::DurationLaw& law = law_at(fit, shape);
    deviations.push_back((call.duration_s - law.mean_s(shape)) / law.sd_s(shape));
  }
  panel.add_histogram("calls", deviations, from, to, bins);
  panel.add_curve("model", from, to, bins + 1, [&](double deviation) {
    double sum = 0, drawn = 0;
    for (std::size_t i = 0; i < table.sample().size(); i += table.sample().size() / curve_calls + 1) {
      const core::KernelShape& shape = table.shapes()[table.sample()[i].shape].shape;
      const core::DurationLaw& law = law_at(fit, shape);
      const double sd_s = law.sd_s(shape);
      drawn += 1;
      if (sd_s > 0) sum += fit::duration_density(law, shape, law.mean_s(shape) + deviation * sd_s) * sd_s;
    }
    return sum / drawn;
  });
  return panel;
}

PlotPanel sigma_panel(const fit::KernelTable& table, const fit::KernelFit& fit) {
  PlotPanel panel{"Standard deviation of repeated shapes: good if along the line", "sigma of the model [s]",
                  "measured [s]", PlotScale::log_both};
  PlotSeries& shapes = panel.points("shapes");
  for (const fit::ShapeSummary& one : table.shapes())
    if (one.count >= 3) shapes.add(law_at(fit, one.shape).sd_s(one.shape), std::sqrt(one.variance_s2()));
  panel.add_diagonal("equal");
  return panel;
}

}  // namespace

study::Picture kernel_picture(const std::string& title, const fit::KernelTable& table, const fit::KernelFit& fit) {
  study::Picture picture{title + " (" + fit.model.level() + ")",
                         {expectation_panel(table, fit), kernel_residual_panel(table, fit)}};
  const bool noisy =
      std::any_of(fit.model.cluster_law().pieces().begin(), fit.model.cluster_law().pieces().end(),
                  [](const core::LawPiece& piece) { return piece.law.noise() != core::NoiseFamily::none; });
  if (!noisy) return picture;
  picture.panels.push_back(kernel_noise_panel(table, fit));
  picture.panels.push_back(sigma_panel(table, fit));
  return picture;
}

namespace {

/// Where it is drawn: size 0 left of 1.
double place_of(double size) {
  return std::max(size, 0.5);
}

PlotPanel data_panel(const SegmentsToDraw& drawn) {
  constexpr int steps = 60;  // of a segment, which logarithmic axes bend
  PlotPanel panel{"Measured and fitted", drawn.x_name, drawn.y_name, PlotScale::log_both};
  PlotSeries& means = panel.points("mean of a size");
  for (const fit::SizeCell& cell : drawn.cells) means.add(place_of(cell.size), cell.mean);
  PlotSeries& fit = panel.line("fit");
  const auto& segments = drawn.segments;
  const double least = place_of(drawn.cells.front().size), most = std::max(least, drawn.cells.back().size);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double from = std::max(least, segments[i].min);
    const double to = i + 1 < segments.size() ? std::min(most, segments[i + 1].min) : most;
    for (int step = 0; step <= steps && to >= from; ++step) {
      const double x = from * std::pow(to / from, static_cast<double>(step) / steps);
      fit.add(x, segments[i](x));
    }
    if (i > 0) panel.breaks.push_back(segments[i].min);
  }
  return panel;
}

PlotPanel residual_panel(const SegmentsToDraw& drawn) {
  PlotPanel panel{"Relative residuals: good if around 0", drawn.x_name, "mean / fit - 1", PlotScale::log_x};
  PlotSeries& residuals = panel.points("mean of a size");
  for (const fit::SizeCell& cell : drawn.cells) {
    const double x = place_of(cell.size);
    residuals.add(x, cell.mean / fit::segment_at(drawn.segments, x)(x) - 1);
  }
  panel.add_level(0);
  for (std::size_t i = 1; i < drawn.segments.size(); ++i) panel.breaks.push_back(drawn.segments[i].min);
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
  const double from = at(0.005), to = std::max(at(0.99), from + std::numeric_limits<double>::min());
  PlotPanel panel{"Scatter from " + significant(segment.min) + " on", "duration - fit [s]", "density [1/s]"};
  panel.add_histogram("calls", sorted, from, to, bins);
  constexpr int steps = 400;  // modes may be narrow
  panel.add_curve(noise.modes.empty() ? "half-normal" : "mixture", from, to, steps + 1, [&](double x) {
    return noise.modes.empty() ? half_normal_density(noise.mean, noise.sd, x) : fit::mixture_density(noise.modes, x);
  });
  return panel;
}

}  // namespace

study::Picture segments_picture(const SegmentsToDraw& drawn) {
  constexpr std::size_t most_noise_panels = 6;
  study::Picture picture{drawn.title, {}};
  if (drawn.cells.empty()) return picture;
  picture.panels = {data_panel(drawn), residual_panel(drawn)};
  for (std::size_t i = 0; i < std::min(most_noise_panels, drawn.noise.size()); ++i)
    if (drawn.noise[i].sd > 0) picture.panels.push_back(noise_panel(drawn.segments[i], drawn.noise[i]));
  return picture;
}

}  // namespace hplcast::cli
