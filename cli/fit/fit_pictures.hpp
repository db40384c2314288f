#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/power_fit.hpp"
#include "hplcast/fit/segmented_regression.hpp"
#include "hplcast/study/plot.hpp"

namespace hplcast::cli {

/// Picture for judging a kernel model: measured over expected durations, relative residuals along the main
/// product with the breaks of pieces, the scatter of single calls against the noise of the model, and, where there is a
/// sigma, that of each shape against it. `fit` is ok.
study::Picture kernel_picture(const std::string& title, const fit::KernelTable& table, const fit::KernelFit& fit);

/// Data of the picture of a segmented fit. `noise` is empty or has one entry per segment.
struct SegmentsToDraw {
  std::string title;
  std::string x_name = "size [bytes]";
  std::string y_name = "duration [s]";
  const std::vector<fit::SizeCell>& cells;
  const std::vector<fit::FittedSegment>& segments;
  const std::vector<fit::SegmentNoise>& noise;
};

/// Data with the fit and its breakpoints, relative residuals, and the scatter of up to six segments with what was
/// fitted to it.
study::Picture segments_picture(const SegmentsToDraw& drawn);

/// The sensors that were added up, and tables of watts with their errors: all hosts, and each if there are several.
void print_power_fit(std::ostream& out, const fit::PowerFit& fit, const fit::PowerRows& rows);

}  // namespace hplcast::cli
