#include "hplcast/fit/kernel_fit.hpp"

#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"

namespace hplcast::fit {

namespace {

using core::DurationLaw;
using core::KernelShape;
using core::NoiseFamily;
using core::normal_cdf;
using core::normal_density;

constexpr double sqrt_two_over_pi = 0.79788456080286535588;
constexpr double two_over_pi = 0.63661977236758134308;

/// E max(mean + sd Z, 0)
double clamped_normal_mean(double mean, double sd) {
  return sd > 0 ? mean * normal_cdf(mean / sd) + sd * normal_density(mean / sd) : std::max(mean, 0.0);
}

// The families for one shape: every one says its distribution, density and clamped mean.

/// All of the probability at mu.
struct PointMass {
  double mu;

  double cdf(double duration_s) const { return duration_s >= mu ? 1 : 0; }
  double density(double duration_s) const { return duration_s == mu ? std::numeric_limits<double>::infinity() : 0; }
  double clamped_mean() const { return std::max(mu, 0.0); }
};

/// mu + scale (|Z| - sqrt(2/pi)); a negative scale mirrors it.
struct HalfNormal {
  double mu, scale;

  double cdf(double duration_s) const {
    const double distance = (duration_s - (mu - scale * sqrt_two_over_pi)) / scale;  // |Z|, also for mirrored scales
    const double below = distance > 0 ? std::erf(distance / std::sqrt(2.0)) : 0.0;
    return scale > 0 ? below : 1 - below;
  }
  double density(double duration_s) const {
    const double distance = (duration_s - mu) / scale + sqrt_two_over_pi;
    return distance >= 0 ? 2 * normal_density(distance) / std::abs(scale) : 0;
  }
  double clamped_mean() const {
    const double bound = mu - scale * sqrt_two_over_pi;
    // d = bound + scale |Z|: for z >= 0 integrate (bound + scale z) 2 phi(z) over where it is positive.
    if (scale > 0 && bound >= 0) return mu;
    const double zero = -bound / scale;
    const double tail = 2 * normal_cdf(-zero), tail_mean = 2 * normal_density(zero);
    if (scale > 0) return bound * tail + scale * tail_mean;
    if (bound <= 0) return 0;
    return bound * (1 - tail) + scale * (2 * normal_density(0) - tail_mean);
  }
};

struct Normal {
  double mu, sd;

  double cdf(double duration_s) const { return normal_cdf((duration_s - mu) / sd); }
  double density(double duration_s) const { return normal_density((duration_s - mu) / sd) / sd; }
  double clamped_mean() const { return clamped_normal_mean(mu, sd); }
};

/// mu exp(scale Z - scale^2/2)
struct LogNormal {
  double mu, scale;

  double cdf(double duration_s) const {
    if (!(duration_s > 0)) return 0;
    return normal_cdf(std::log(duration_s / mu) / scale + scale / 2);
  }
  double density(double duration_s) const {
    if (!(duration_s > 0)) return 0;
    return normal_density(std::log(duration_s / mu) / scale + scale / 2) / (scale * duration_s);
  }
  double clamped_mean() const { return mu; }
};

struct Mixture {
  double mu;
  const std::vector<core::MixtureMode>& modes;

  double cdf(double duration_s) const { return mixture_cdf(modes, duration_s / mu); }
  double density(double duration_s) const { return mixture_density(modes, duration_s / mu) / mu; }
  double clamped_mean() const {
    double sum = 0;
    for (const auto& mode : modes)
      sum += mode.probability * clamped_normal_mean(mu * mode.mean, std::abs(mu) * mode.sd);
    return sum;
  }
};

using Noise = std::variant<PointMass, HalfNormal, Normal, LogNormal, Mixture>;

Noise noise_of(const DurationLaw& law, const KernelShape& shape) {
  const double mu = law.mean_s(shape);
  if (!(law.sd_s(shape) > 0)) return PointMass{mu};
  const double sigma = law.sigma()(shape);
  switch (law.noise()) {
    case NoiseFamily::none:
      break;
    case NoiseFamily::half_normal:
      return HalfNormal{mu, sigma / std::sqrt(1 - two_over_pi)};
    case NoiseFamily::normal:
      return Normal{mu, std::abs(sigma)};
    case NoiseFamily::log_normal:
      if (!(mu > 0)) break;
      return LogNormal{mu, std::sqrt(std::log1p((sigma / mu) * (sigma / mu)))};
    case NoiseFamily::mixture:
      return Mixture{mu, law.modes()};
  }
  return PointMass{mu};
}

}  // namespace

double duration_cdf(const DurationLaw& law, const KernelShape& shape, double duration_s) {
  return std::visit([&](const auto& noise) { return noise.cdf(duration_s); }, noise_of(law, shape));
}

double duration_density(const DurationLaw& law, const KernelShape& shape, double duration_s) {
  return std::visit([&](const auto& noise) { return noise.density(duration_s); }, noise_of(law, shape));
}

double clamped_mean_s(const DurationLaw& law, const KernelShape& shape) {
  return std::visit([](const auto& noise) { return noise.clamped_mean(); }, noise_of(law, shape));
}

}  // namespace hplcast::fit
