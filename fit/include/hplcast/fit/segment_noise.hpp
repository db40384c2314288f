#pragma once

#include <string>
#include <vector>

#include "hplcast/core/kernel_model.hpp"
#include "hplcast/fit/segmented_regression.hpp"

namespace hplcast::fit {

/// The law fitted to the residuals y - f(x) of each segment: nothing, one standard deviation (N1), or a mixture of
/// normal laws whose number of modes the BIC chooses (N').
enum class SegmentNoiseKind { none, n1, mixture };

const char* to_string(SegmentNoiseKind kind);
/// @throws DomainError for an unknown name.
SegmentNoiseKind segment_noise_from_name(const std::string& name);

/// Noise of one segment. The law of y at x is f(x) + one draw.
struct SegmentNoise {
  double mean = 0;  ///< of the residuals: not zero for the objective log, whose line is a geometric mean
  double sd = 0;    ///< around their mean; 0 for fewer than three rows
  std::vector<core::MixtureMode> modes;  ///< of the residuals, in the unit of y; empty for none and N1, or too few rows
  std::vector<double> sample;            ///< of the residuals, at most 5000: for pictures; empty for none
};

/// Collects the residuals of a fit in a second pass over its rows. Memory: at most 5000 residuals a segment; of more, a
/// random sample (reproducible) stands for all in the mixture.
class SegmentNoiseCollector {
 public:
  /// Segments as fit_segmented() gives them; not empty.
  explicit SegmentNoiseCollector(std::vector<FittedSegment> segments);
  void add(double x, double y);
  /// One entry per segment.
  std::vector<SegmentNoise> noise(SegmentNoiseKind kind) const;

 private:
  struct Residuals {
    long rows = 0;
    double mean = 0, m2 = 0;
    std::vector<double> sample;
  };
  std::vector<FittedSegment> segments_;
  std::vector<Residuals> residuals_;
};

}  // namespace hplcast::fit
