#pragma once

#include <cmath>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/fit/power_fit.hpp"
#include "hplcast/fit/segmented_regression.hpp"
#include "hplcast/study/plot.hpp"

namespace hplcast::cli {

using study::PlotPanel;
using study::PlotScale;
using study::PlotSeries;

/// Data of the picture of a segmented fit. `noise` is empty or has one entry per segment.
struct SegmentsToDraw {
  std::string title, x_name, y_name;
  const std::vector<fit::SizeCell>& cells;
  const std::vector<fit::FittedSegment>& segments;
  const std::vector<fit::SegmentNoise>& noise;
  bool relative_noise = false;   ///< log(duration / fit), not duration - fit
  double used_below = HUGE_VAL;  ///< size from which on nothing takes the fit
};

/// Data with the fit and its breakpoints, relative residuals, and the scatter of up to six segments with what was
/// fitted to it.
std::string segments_picture(const SegmentsToDraw& drawn);

/// The sensors that were added up, and tables of watts with their errors: all hosts, and each if there are several.
void print_power_fit(std::ostream& out, const fit::PowerFit& fit, const fit::PowerRows& rows);

}  // namespace hplcast::cli
