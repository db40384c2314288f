#pragma once

#include <string>
#include <vector>

#include "hplcast/fit/segment_noise.hpp"
#include "picture.hpp"

namespace hplcast::cli {

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
Picture segments_picture(const SegmentsToDraw& drawn);

}  // namespace hplcast::cli
