#include "hplcast/fit/noise_family.hpp"

#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/gaussian_mixture.hpp"

namespace hplcast::fit {

namespace {

using core::DurationLaw;
using core::KernelShape;
using core::NoiseFamily;

constexpr double sqrt_two_over_pi = 0.79788456080286535588;
constexpr double two_over_pi = 0.63661977236758134308;

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}
double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2 * 3.14159265358979323846);
}
double normal_quantile(double p) {
  return boost::math::quantile(boost::math::normal(), p);
}

/// Scale s of the half-normal law of standard deviation |sigma|; with the sign of sigma.
double half_normal_scale(double sigma) {
  return sigma / std::sqrt(1 - two_over_pi);
}

/// t of d = mu exp(t Z - t^2/2).
double log_scale(double mu, double sigma) {
  return std::sqrt(std::log1p((sigma / mu) * (sigma / mu)));
}

bool is_point(const DurationLaw& law, const KernelShape& shape) {
  return law.noise() == NoiseFamily::none || !(law.sd_s(shape) > 0) ||
         (law.noise() == NoiseFamily::log_normal && !(law.mean_s(shape) > 0));
}

}  // namespace

double duration_cdf(const DurationLaw& law, const KernelShape& shape, double duration_s) {
  const double mu = law.mean_s(shape);
  if (is_point(law, shape)) return duration_s >= mu ? 1 : 0;
  if (law.noise() == NoiseFamily::mixture) return mixture_cdf(law.modes(), duration_s / mu);
  const double sigma = law.sigma()(shape);
  switch (law.noise()) {
    case NoiseFamily::half_normal: {
      const double scale = half_normal_scale(sigma);
      const double distance = (duration_s - (mu - scale * sqrt_two_over_pi)) / scale;  // |Z|, also for mirrored scales
      const double below = distance > 0 ? std::erf(distance / std::sqrt(2.0)) : 0.0;
      return scale > 0 ? below : 1 - below;
    }
    case NoiseFamily::normal:
      return normal_cdf((duration_s - mu) / std::abs(sigma));
    default: {
      if (!(duration_s > 0)) return 0;
      const double scale = log_scale(mu, sigma);
      return normal_cdf(std::log(duration_s / mu) / scale + scale / 2);
    }
  }
}

double duration_quantile_s(const DurationLaw& law, const KernelShape& shape, double probability) {
  if (!(probability > 0) || !(probability < 1))
    throw core::DomainError("probability", probability, "a number in (0, 1)");
  const double mu = law.mean_s(shape);
  if (is_point(law, shape)) return mu;
  if (law.noise() == NoiseFamily::mixture) return mu * mixture_quantile(law.modes(), probability);
  const double sigma = law.sigma()(shape);
  switch (law.noise()) {
    case NoiseFamily::half_normal: {
      const double scale = half_normal_scale(sigma);
      const double share = scale > 0 ? probability : 1 - probability;
      return mu + scale * (normal_quantile((1 + share) / 2) - sqrt_two_over_pi);
    }
    case NoiseFamily::normal:
      return mu + std::abs(sigma) * normal_quantile(probability);
    default: {
      const double scale = log_scale(mu, sigma);
      return mu * std::exp(scale * normal_quantile(probability) - scale * scale / 2);
    }
  }
}

double duration_density(const DurationLaw& law, const KernelShape& shape, double duration_s) {
  const double mu = law.mean_s(shape);
  if (is_point(law, shape)) return duration_s == mu ? std::numeric_limits<double>::infinity() : 0;
  if (law.noise() == NoiseFamily::mixture) return mixture_density(law.modes(), duration_s / mu) / mu;
  const double sigma = law.sigma()(shape);
  switch (law.noise()) {
    case NoiseFamily::half_normal: {
      const double scale = half_normal_scale(sigma);
      const double distance = (duration_s - mu) / scale + sqrt_two_over_pi;
      return distance >= 0 ? 2 * normal_density(distance) / std::abs(scale) : 0;
    }
    case NoiseFamily::normal:
      return normal_density((duration_s - mu) / sigma) / std::abs(sigma);
    default: {
      if (!(duration_s > 0)) return 0;
      const double scale = log_scale(mu, sigma);
      return normal_density(std::log(duration_s / mu) / scale + scale / 2) / (scale * duration_s);
    }
  }
}

double clamped_mean_s(const DurationLaw& law, const KernelShape& shape) {
  const double mu = law.mean_s(shape);
  if (is_point(law, shape)) return std::max(mu, 0.0);
  // E max(mean + sd Z, 0)
  const auto normal_part = [](double mean, double sd) {
    return sd > 0 ? mean * normal_cdf(mean / sd) + sd * normal_density(mean / sd) : std::max(mean, 0.0);
  };
  if (law.noise() == NoiseFamily::log_normal) return mu;
  if (law.noise() == NoiseFamily::mixture) {
    double sum = 0;
    for (const auto& mode : law.modes()) sum += mode.probability * normal_part(mu * mode.mean, std::abs(mu) * mode.sd);
    return sum;
  }
  const double sigma = law.sigma()(shape);
  if (law.noise() == NoiseFamily::normal) return normal_part(mu, std::abs(sigma));
  const double scale = half_normal_scale(sigma);
  const double bound = mu - scale * sqrt_two_over_pi;
  // d = bound + scale |Z|: for z >= 0 integrate (bound + scale z) 2 phi(z) over where it is positive.
  if (scale > 0 && bound >= 0) return mu;
  const double zero = -bound / scale;
  const double tail = 2 * normal_cdf(-zero), tail_mean = 2 * normal_density(zero);
  if (scale > 0) return bound * tail + scale * tail_mean;
  if (bound <= 0) return 0;
  return bound * (1 - tail) + scale * (2 * normal_density(0) - tail_mean);
}

}  // namespace hplcast::fit
