#pragma once

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::fit {

/// The distribution of one call under a law, for one shape. `probability` and the values are of the law before
/// durations below 0 are set to 0. Noise `none` counts as all of its probability at mu.
double duration_cdf(const core::DurationLaw& law, const core::KernelShape& shape, double duration_s);

/// The duration in seconds that a share `probability` in (0, 1) of the calls stays below.
double duration_quantile_s(const core::DurationLaw& law, const core::KernelShape& shape, double probability);

/// Density of the duration in 1/s; infinite at mu for noise `none`.
double duration_density(const core::DurationLaw& law, const core::KernelShape& shape, double duration_s);

/// Expectation of max(duration, 0) in seconds: what a simulation that never injects negative times spends on average.
double clamped_mean_s(const core::DurationLaw& law, const core::KernelShape& shape);

}  // namespace hplcast::fit
