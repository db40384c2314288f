#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

struct GaussianMixtureOptions {
  int max_modes = 4;  ///< numbers of modes tried: 1 .. max_modes
  int starts = 5;     ///< seeded starts for each number of modes; the likeliest end counts
  int max_iterations = 500;
  double tolerance = 1e-8;  ///< stop when the mean log-likelihood of a value grows by less
  std::uint64_t seed = 1;
  /// Every mode holds at least this share of the values, and at least `min_values` of them.
  double min_probability = 0.002;
  double min_values = 5;
  /// No mode is narrower than this share of the middle half of the values (their interquartile range): a component that
  /// collapses on equal values has infinite likelihood and means nothing.
  double min_relative_sd = 1e-2;
};

/// Result of fit_gaussian_mixture(). Without `ok` the other fields mean nothing.
struct GaussianMixture {
  bool ok = false;
  std::string reason;                    ///< why there is no fit
  std::vector<core::MixtureMode> modes;  ///< by ascending mean, in the unit of the values; probabilities sum to 1
  double log_likelihood = 0;
  double bic = 0;   ///< (3 modes - 1) log(n) - 2 log-likelihood; least wins
  double mean = 0;  ///< expectation of the mixture: that of the values
};

/// Fits a mixture of normal laws to numbers by expectation-maximisation (Dempster, Laird and Rubin 1977), the number of
/// modes by the least BIC (Schwarz 1978). Numbers of modes that end with a component at its lower limits are passed
/// over. Deterministic for a seed. More than 500 values are first put into groups of nearly equal ones (the spread
/// inside a group is kept), so that the time hardly grows with their number.
/// @throws DomainError for values that are not finite.
GaussianMixture fit_gaussian_mixture(const std::vector<double>& values, const GaussianMixtureOptions& options = {});

/// Probability that a number drawn from the mixture is at most `value`.
double mixture_cdf(const std::vector<core::MixtureMode>& modes, double value);
/// Density of the mixture at `value`.
double mixture_density(const std::vector<core::MixtureMode>& modes, double value);

}  // namespace hplcast::fit
