#pragma once

#include <string>
#include <vector>

#include "mean_regression.hpp"

namespace hplcast::fit::detail {

/// The noise around a mean that is already fitted.
struct NoiseResult {
  core::DurationLaw law;
  PolynomialFit sigma;
  /// Of the mean duration of each shape: the noise of its calls, and how far the formula itself may be off there. Empty
  /// for N0, N1 and where there is no noise.
  std::vector<double> shape_variances;
  std::vector<std::string> notes;
};

/// Fits the noise asked for and puts the law together.
NoiseResult fit_noise(const ShapeRows& rows, const RegressionResult& mean, const KernelFitOptions& options,
                      const core::ShapeRange& range);

}  // namespace hplcast::fit::detail
