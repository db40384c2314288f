#include "fit/kernel/kernel_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/fit/gaussian_mixture.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit::detail {

namespace {

using core::DurationLaw;
using core::NoiseFamily;

/// Variances of the calls of some shapes, each with the number of independent squares in it.
struct Variances {
  ShapeRows shapes;
  std::vector<double> mu_s;
  std::vector<double> variance_s2;
  std::vector<double> degrees;
};

/// True if the scatter inside shapes says enough for a sigma of that many terms.
bool is_repeated(const ShapeRows& rows, std::size_t terms) {
  std::size_t repeated = 0;
  double degrees = 0;
  for (const ShapeSummary& summary : rows.shapes) {
    if (summary.count > 1) ++repeated;
    degrees += static_cast<double>(summary.count - 1);
  }
  return repeated >= terms + 2 && degrees >= static_cast<double>(rows.size());
}

/// Between calls of one shape where shapes are repeated enough, else around the fitted mean. The residual of a row of
/// leverage h has 1 - h times the variance of the noise.
Variances variances_of(const ShapeRows& rows, const RegressionResult& mean, bool within_shapes) {
  Variances result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ShapeSummary& summary = rows.shapes[i];
    if (within_shapes && summary.count < 2) continue;
    result.shapes.shapes.push_back(summary);
    result.mu_s.push_back(std::max(mean.fitted[i], 0.01 * summary.mean_s));
    const double count = static_cast<double>(summary.count);
    if (within_shapes) {
      result.degrees.push_back(count - 1);
      result.variance_s2.push_back(summary.variance_s2());
    } else {
      const double residual = summary.mean_s - mean.fitted[i];
      result.degrees.push_back(count);
      result.variance_s2.push_back((count * residual * residual / (1 - mean.leverage[i]) + summary.squares_s2) / count);
    }
  }
  return result;
}

/// Variances above count as this one (Huber 1964), so that an interrupt of a millisecond in a call of a microsecond
/// does not decide how all calls scatter: 10 standard deviations of the variance of a half-normal sample, whose fourth
/// moment is 3.87 sigma^4. For one square that is 4.2 sigma: less than 1 in 1000 calls without outliers.
double most_variance(double sd, double degrees) {
  return sd * sd * (1 + 10 * std::sqrt(2.87 / degrees));
}

/// sigma of N2 with coefficients >= 0, so that it is positive everywhere: matches the variances, by Gauss-Newton on
/// their quasi-likelihood (variance of a variance proportional to its square). E s^2 = sigma^2 for every family of
/// noise, which is not true of E s = sigma.
RegressionResult match_variances(const Variances& given, const std::vector<core::Monomial>& terms, double min_abs_t) {
  constexpr int most_iterations = 100;
  const std::size_t rows = given.shapes.size();
  PolynomialRegression what;
  what.terms = terms;
  what.non_negative = true;
  what.robust = true;
  RegressionRows data;
  data.counts.assign(rows, 1.0);
  std::vector<double> sd(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    data.y.push_back(std::sqrt(given.variance_s2[i]));
    data.weights.push_back(given.degrees[i] / (given.mu_s[i] * given.mu_s[i]));
  }
  RegressionResult result = fit_polynomial(given.shapes, data, what, "sigma");
  for (int iteration = 0; iteration < most_iterations && result.fitted_terms > 0; ++iteration) {
    double change = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double next = std::max(result.fitted[i], 1e-6 * given.mu_s[i]);
      if (iteration > 0) change = std::max(change, std::abs(next - sd[i]) / next);
      // A step of at most a factor of three keeps one huge outlier from throwing the next weights off.
      sd[i] = iteration > 0 ? std::clamp(next, sd[i] / 3, sd[i] * 3) : next;
      const double variance = std::min(given.variance_s2[i], most_variance(sd[i], given.degrees[i]));
      data.y[i] = sd[i] + (variance - sd[i] * sd[i]) / (2 * sd[i]);
      data.weights[i] = given.degrees[i] / (sd[i] * sd[i]);
    }
    const bool settled = iteration > 0 && change < 1e-8;
    what.min_abs_t = settled ? min_abs_t : 0;
    result = fit_polynomial(given.shapes, data, what, "sigma");
    if (settled) break;
  }
  return result;
}

/// The published way: ordinary least squares on the standard deviation of each shape; a single call has none.
RegressionResult published_sigma(const ShapeRows& rows, const std::vector<core::Monomial>& terms, Intercept intercept) {
  ShapeRows repeated;
  RegressionRows data;
  for (const ShapeSummary& summary : rows.shapes) {
    if (summary.count < 2) continue;
    repeated.shapes.push_back(summary);
    data.y.push_back(std::sqrt(summary.variance_s2()));
  }
  if (data.y.size() < terms.size()) return {};
  data.counts.assign(data.y.size(), 1.0);
  PolynomialRegression what;
  what.terms = terms;
  if (intercept == Intercept::published) what.fixed_constant = published_constant(repeated, data.y);
  return fit_polynomial(repeated, data, what, "sigma");
}

/// Modes of the durations of the sample relative to the fitted mean, scaled to expectation 1. Empty if there is nothing
/// to fit.
std::vector<core::MixtureMode> relative_modes(const ShapeRows& rows, const RegressionResult& mean) {
  std::vector<double> ratios;
  for (const SampledCall& call : rows.sample)
    if (mean.fitted[call.shape] > 0) ratios.push_back(call.duration_s / mean.fitted[call.shape]);
  if (ratios.empty()) return {};
  std::vector<core::MixtureMode> modes = fit_gaussian_mixture(ratios);
  double probability = 0, expectation = 0;
  for (const auto& mode : modes) {
    probability += mode.probability;
    expectation += mode.probability * mode.mean;
  }
  for (auto& mode : modes) {
    mode.mean *= probability / expectation;
    mode.sd *= probability / expectation;
    mode.probability /= probability;
  }
  return modes;
}

/// How far the probability integral transform of the sample is from uniform: Cramer and von Mises, per call. 0 is
/// perfect, 1/3 is the worst.
double misfit(const ShapeRows& rows, const DurationLaw& law) {
  std::vector<double> shares;
  for (const SampledCall& call : rows.sample)
    shares.push_back(duration_cdf(law, rows.shapes[call.shape].shape, call.duration_s));
  std::sort(shares.begin(), shares.end());
  const double count = static_cast<double>(shares.size());
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double deviation = shares[i] - (static_cast<double>(i) + 0.5) / count;
    sum += deviation * deviation;
  }
  return count > 0 ? sum / count : 0;
}

/// Total time of the shapes measured when durations below 0 are set to 0, relative to the expected one, minus 1.
double clamping_bias(const ShapeRows& rows, const DurationLaw& law) {
  double expected = 0, injected = 0;
  for (const ShapeSummary& summary : rows.shapes) {
    expected += static_cast<double>(summary.count) * law.mean_s(summary.shape);
    injected += static_cast<double>(summary.count) * clamped_mean_s(law, summary.shape);
  }
  return expected > 0 ? injected / expected - 1 : 0;
}

constexpr double far_mode = 5;

/// Modes far from 1 come from interrupts, whose length does not grow with the call: as a factor they would do harm.
bool is_proportional(const std::vector<core::MixtureMode>& modes) {
  return !modes.empty() &&
         std::all_of(modes.begin(), modes.end(), [](const auto& mode) { return mode.mean < far_mode; });
}

constexpr double bearable_bias = 0.002;

DurationLaw make_law(const core::Polynomial& mu, const core::Polynomial& sigma, NoiseFamily family,
                     const std::vector<core::MixtureMode>& modes) {
  const bool has_modes = family == NoiseFamily::mixture, has_sigma = family != NoiseFamily::none && !has_modes;
  return DurationLaw::make(mu, has_sigma ? sigma : core::Polynomial(), family,
                           has_modes ? modes : std::vector<core::MixtureMode>());
}

/// The misfit that a law of `calls` durations has with its own sample, exceeded by chance in one of a hundred: the
/// asymptotic quantile of Cramer and von Mises (Anderson and Darling 1952).
double misfit_by_chance(std::size_t calls) {
  constexpr double quantile = 0.743;
  return quantile / static_cast<double>(calls);
}

/// The family whose distribution is nearest to the sample, among those that keep the total time. A mixture has more
/// parameters than the others and comes near to each of them: it must be nearer by more than chance.
NoiseFamily nearest_family(const ShapeRows& rows, const core::Polynomial& mu, const core::Polynomial& sigma,
                           const std::vector<core::MixtureMode>& modes, std::vector<std::string>& notes) {
  NoiseFamily best = NoiseFamily::log_normal;  // never negative: always possible
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](NoiseFamily family, double nearer_by) {
    const DurationLaw law = make_law(mu, sigma, family, modes);
    if (clamping_bias(rows, law) > bearable_bias) return;
    const double distance = misfit(rows, law);
    if (distance + nearer_by >= least) return;
    least = distance;
    best = family;
  };
  for (const NoiseFamily family : core::noise_families)
    if (family != NoiseFamily::none && family != NoiseFamily::mixture) consider(family, 0);
  if (is_proportional(modes)) consider(NoiseFamily::mixture, misfit_by_chance(rows.sample.size()));
  notes.push_back(std::string("noise: ") + to_string(best) + " is nearest to the measured scatter");
  return best;
}

std::vector<core::Monomial> sigma_terms(const core::Polynomial& mu, const KernelFitOptions& options) {
  if (options.noise == NoiseLevel::n1) return {core::Monomial{}};
  if (!options.sigma_terms.empty()) return options.sigma_terms;
  std::vector<core::Monomial> terms = mu.terms();
  // Interrupts and the clock add a scatter that does not grow with the size.
  if (std::find(terms.begin(), terms.end(), core::Monomial{}) == terms.end()) terms.push_back({});
  return terms;
}

RegressionResult fit_sigma(const ShapeRows& rows, const RegressionResult& mean, const KernelFitOptions& options) {
  const std::vector<core::Monomial> terms = sigma_terms(mean.fit.polynomial, options);
  if (options.published_sigma) {
    std::vector<core::Monomial> free_terms = terms;
    free_terms.erase(std::remove(free_terms.begin(), free_terms.end(), core::Monomial{}), free_terms.end());
    return published_sigma(rows, free_terms, options.intercept);
  }
  if (options.noise == NoiseLevel::n1) {  // one number for all calls: the spread around the mean, misfit included
    double squares = 0, spare = -static_cast<double>(mean.fitted_terms);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double residual = rows.shapes[i].mean_s - mean.fitted[i], count = static_cast<double>(rows.shapes[i].count);
      squares += count * residual * residual + rows.shapes[i].squares_s2;
      spare += count;
    }
    RegressionResult result;
    if (spare > 0) result.fit.polynomial = core::Polynomial::make({core::Monomial{}}, {std::sqrt(squares / spare)});
    result.fit.degrees_of_freedom = spare;
    return result;
  }
  const double limit = options.remove_insignificant ? options.min_abs_t : 0;
  return match_variances(variances_of(rows, mean, is_repeated(rows, terms.size())), terms, limit);
}

/// True if the calls are where the fit says, but for rounding and the digits of the file.
bool is_noiseless(const ShapeRows& rows, const RegressionResult& mean) {
  constexpr double negligible = 1e-6;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ShapeSummary& summary = rows.shapes[i];
    const double farthest = std::max(summary.max_s - mean.fitted[i], mean.fitted[i] - summary.min_s);
    if (farthest > negligible * summary.mean_s) return false;
  }
  return true;
}

/// Variance of the mean duration of each shape. Where sigma was fitted on the scatter inside shapes, it does not know
/// how far the formula is off: that is a further relative variance, by moments (the weights of the regression decide
/// who matters), unless chance explains it: within 2 standard errors of 0, for squares of normal residuals.
std::vector<double> variances_of_shapes(const ShapeRows& rows, const RegressionResult& mean, const DurationLaw& law,
                                        bool noise_only) {
  std::vector<double> variances;
  double misfit_sum = 0, weight_sum = 0, chance = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double sd = law.sd_s(rows.shapes[i].shape);
    variances.push_back(sd * sd / static_cast<double>(rows.shapes[i].count));
    const double residual = rows.shapes[i].mean_s - mean.fitted[i];
    misfit_sum += mean.weights[i] * (residual * residual / (1 - mean.leverage[i]) - variances[i]);
    weight_sum += mean.weights[i] * mean.fitted[i] * mean.fitted[i];
    chance += 2 * mean.weights[i] * mean.weights[i] * variances[i] * variances[i];
  }
  if (noise_only && misfit_sum > 2 * std::sqrt(chance))
    for (std::size_t i = 0; i < rows.size(); ++i)
      variances[i] += misfit_sum / weight_sum * mean.fitted[i] * mean.fitted[i];
  return variances;
}

}  // namespace

NoiseResult fit_noise(const ShapeRows& rows, const RegressionResult& mean, const KernelFitOptions& options,
                      const core::ShapeRange& range) {
  NoiseResult result;
  const core::Polynomial& mu = mean.fit.polynomial;
  if (options.noise == NoiseLevel::n0) {
    result.law = DurationLaw::make(mu, {}, NoiseFamily::none);
    return result;
  }
  std::vector<core::MixtureMode> modes;
  if (options.noise == NoiseLevel::mixture || !options.family) modes = relative_modes(rows, mean);
  if (options.noise == NoiseLevel::mixture) {
    if (modes.empty()) {
      result.notes.push_back("noise: no calls to fit a mixture to");
    } else if (!is_proportional(modes)) {
      result.notes.push_back(
          "noise: some calls took more than 5 times what is expected; the mixture makes long calls as many times "
          "longer, too");
    }
    result.law = make_law(mu, {}, modes.empty() ? NoiseFamily::none : NoiseFamily::mixture, modes);
    if (!modes.empty()) result.shape_variances = variances_of_shapes(rows, mean, result.law, false);
    return result;
  }
  RegressionResult sigma = fit_sigma(rows, mean, options);
  result.notes = std::move(sigma.notes);
  if (sigma.fit.polynomial.empty() || (!options.published_sigma && is_noiseless(rows, mean))) {
    result.notes.push_back(options.published_sigma
                               ? "noise: too few shapes were called twice or more to tell how calls scatter"
                               : "noise: the measurements do not scatter around the fit");
    result.law = DurationLaw::make(mu, {}, NoiseFamily::none);
    return result;
  }
  if (smallest_in_range(sigma.fit.polynomial, range) < 0)
    result.notes.push_back("sigma: negative for some sizes inside the range; the noise is mirrored there");
  const NoiseFamily family =
      options.family ? *options.family : nearest_family(rows, mu, sigma.fit.polynomial, modes, result.notes);
  result.law = make_law(mu, sigma.fit.polynomial, family, modes);
  if (options.noise == NoiseLevel::n2)
    result.shape_variances =
        variances_of_shapes(rows, mean, result.law, is_repeated(rows, sigma_terms(mu, options).size()));
  if (family != NoiseFamily::mixture) result.sigma = std::move(sigma.fit);
  const double bias = clamping_bias(rows, result.law);
  if (bias > bearable_bias)
    result.notes.push_back("noise: " + std::string(to_string(family)) +
                           " gives negative durations, which are set to 0: the total "
                           "time of the measured calls is predicted " +
                           short_number(100 * bias) + " percent too long; log-normal does not");
  return result;
}

}  // namespace hplcast::fit::detail
