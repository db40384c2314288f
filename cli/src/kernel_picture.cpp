#include "kernel_picture.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/fit/noise_family.hpp"

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

}  // namespace hplcast::cli
