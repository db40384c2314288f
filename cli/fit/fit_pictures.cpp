#include "cli/fit/fit_pictures.hpp"

#include <algorithm>
#include <limits>

#include "cli/support/command.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"

namespace hplcast::cli {

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
  double measured = 0, fitted = 0;
  for (const fit::SizeCell& cell : drawn.cells) {
    const double x = place_of(cell.size), expected = fit::segment_at(drawn.segments, x)(x);
    residuals.add(x, cell.mean / expected - 1);
    if (x >= drawn.used_below) continue;
    measured += static_cast<double>(cell.rows) * cell.mean;
    fitted += static_cast<double>(cell.rows) * expected;
  }
  if (fitted != 0)
    panel.note =
        "Single points scatter, which is harmless if the mean is kept: all rows together differ from the fit by " +
        core::signed_percent(measured / fitted - 1) + ".";
  if (drawn.used_below <= drawn.cells.back().size) {
    panel.breaks.push_back(drawn.used_below);
    panel.note += " From " + significant(drawn.used_below) +
                  " bytes on the sender waits for the receiver, and nothing takes this fit: points there do not count.";
  }
  panel.add_level(0);
  for (std::size_t i = 1; i < drawn.segments.size(); ++i) panel.breaks.push_back(drawn.segments[i].min);
  return panel;
}

/// Density of core::half_normal(mean, sd) at x.
double half_normal_density(double mean, double sd, double x) {
  const double scale = sd / std::sqrt(1 - 2 / M_PI);
  const double z = (x - mean) / scale + std::sqrt(2 / M_PI);
  return z < 0 ? 0 : std::sqrt(2 / M_PI) * std::exp(-z * z / 2) / scale;
}

PlotPanel noise_panel(const fit::FittedSegment& segment, const fit::SegmentNoise& noise, bool relative) {
  std::vector<double> sorted = noise.sample;
  const int bins = std::clamp(static_cast<int>(4 * std::cbrt(sorted.size())), 16, 80);
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  // A few calls far out would leave one bin for all others.
  const double from = at(0.005), to = std::max(at(0.99), from + std::numeric_limits<double>::min());
  PlotPanel panel{"Scatter from " + significant(segment.min) + " on",
                  relative ? "log(duration / fit)" : "duration - fit [s]", relative ? "density" : "density [1/s]"};
  panel.add_histogram("calls", sorted, from, to, bins);
  constexpr int steps = 400;  // modes may be narrow
  panel.add_curve(relative              ? "log-normal, mixed"
                  : noise.modes.empty() ? "half-normal"
                                        : "mixture",
                  from, to, steps + 1, [&](double x) {
                    return noise.modes.empty() ? half_normal_density(noise.mean, noise.sd, x)
                                               : fit::mixture_density(noise.modes, x);
                  });
  return panel;
}

}  // namespace

std::string segments_picture(const SegmentsToDraw& drawn) {
  constexpr std::size_t most_noise_panels = 6;
  study::Picture picture{drawn.title, {}};
  if (drawn.cells.empty()) return picture_file(picture);
  picture.panels = {data_panel(drawn), residual_panel(drawn)};
  for (std::size_t i = 0; i < std::min(most_noise_panels, drawn.noise.size()); ++i)
    if (drawn.noise[i].sd > 0)
      picture.panels.push_back(noise_panel(drawn.segments[i], drawn.noise[i], drawn.relative_noise));
  return picture_file(picture);
}

}  // namespace hplcast::cli
