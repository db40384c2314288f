#pragma once

#include <vector>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

struct GaussianMixtureOptions {
  int max_modes = 4;      ///< numbers of modes tried: 1 .. max_modes
  int starts = 5;         ///< seeded starts for each number of modes; the likeliest end counts
  double min_values = 5;  ///< that every mode holds at least, and at least 0.2 % of all
};

/// Fits a mixture of normal laws to numbers by expectation-maximisation (Dempster, Laird and Rubin 1977), the number of
/// modes by the least BIC (Schwarz 1978). The modes are in the unit of the values, by ascending mean; probabilities sum
/// to 1; none of no values. Numbers of modes that end with a component at its lower limits are passed over.
/// Deterministic. More than 500 values are first put into groups of nearly equal ones (the spread inside a group is
/// kept), so that the time hardly grows with their number.
/// @throws DomainError for values that are not finite.
std::vector<core::MixtureMode> fit_gaussian_mixture(const std::vector<double>& values,
                                                    const GaussianMixtureOptions& options = {});

/// Probability that a number drawn from the mixture is at most `value`.
double mixture_cdf(const std::vector<core::MixtureMode>& modes, double value);
/// Density of the mixture at `value`.
double mixture_density(const std::vector<core::MixtureMode>& modes, double value);

}  // namespace hplcast::fit
