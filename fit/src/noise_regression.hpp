#pragma once

#include <string>
#include <vector>

#include "mean_regression.hpp"

namespace hplcast::fit::detail {

/// The noise around a mean that is already fitted.
struct NoiseResult {
  core::DurationLaw law;
  PolynomialFit sigma;
  std::vector<std::string> notes;
};

/// Fits the noise asked for and puts the law together. `with_constant`: sigma has a constant when its terms are those of mu.
NoiseResult fit_noise(const ShapeRows& rows, const RegressionResult& mean, const KernelFitOptions& options,
                      const core::ShapeRange& range);

}  // namespace hplcast::fit::detail
