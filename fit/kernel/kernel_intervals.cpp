#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/distributions.hpp"
#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit {

namespace {

const PieceFit& piece_at(const KernelFit& fit, const core::KernelShape& shape) {
  const double where = fit.model.cluster_law().split()(shape);
  std::size_t piece = 0;
  while (piece + 1 < fit.pieces.size() && where >= fit.pieces[piece + 1].from) ++piece;
  return fit.pieces[piece];
}

double variance_at(const PolynomialFit& fit, const core::KernelShape& shape) {
  const auto& terms = fit.polynomial.terms();
  double variance = 0;
  for (std::size_t a = 0; a < fit.covariance.size(); ++a)
    for (std::size_t b = 0; b < fit.covariance.size(); ++b)
      variance += terms[a](shape) * fit.covariance[a][b] * terms[b](shape);
  return std::max(0.0, variance);
}

void validate(const KernelFit& fit, const core::KernelShape& shape, double level) {
  if (!fit.ok()) throw core::DomainError("fit", to_string(fit.status), "a fit with status ok");
  if (!(level > 0) || !(level < 1)) throw core::DomainError("level", level, "a number in (0, 1)");
  const PolynomialFit& mu = piece_at(fit, shape).mu;
  if (mu.covariance.empty())
    throw core::DomainError("degrees of freedom", mu.degrees_of_freedom, "more shapes than coefficients");
}

/// Degrees of freedom of the chi-squared law that the square of sigma at a shape follows: a relative standard error e
/// of sigma is that of 1/(2 e^2) squares. 0: sigma is taken as known.
double freedom_of_sigma(const PolynomialFit& sigma, const core::KernelShape& shape) {
  if (sigma.covariance.empty()) return sigma.degrees_of_freedom;
  const double value = sigma.polynomial(shape);
  const double variance = variance_at(sigma, shape);
  return variance > 0 ? std::max(1.0, value * value / (2 * variance)) : 0;
}

/// The duration of a new call when mean and standard deviation of its law are uncertain: the average of the law over
/// equally probable means and standard deviations. 15 of each leave errors of the order of 0.1 percent in the
/// probability.
class PredictiveLaw {
 public:
  PredictiveLaw(const core::DurationLaw& law, const core::KernelShape& shape, double mean_error, double sigma_freedom)
      : law_(law), shape_(shape), mean_(law.mean_s(shape)) {
    constexpr int count = 15;
    for (int i = 0; i < count; ++i) {
      const double probability = (i + 0.5) / count;
      shifts_.push_back(mean_error * normal_quantile(probability));
      if (sigma_freedom > 0)
        scales_.push_back(std::sqrt(sigma_freedom / chi_squared_quantile(sigma_freedom, probability)));
    }
    if (scales_.empty()) scales_.push_back(1);
  }

  double cdf(double duration_s) const {
    double sum = 0;
    for (double shift : shifts_)
      for (double scale : scales_) sum += duration_cdf(law_, shape_, mean_ + (duration_s - shift - mean_) / scale);
    return sum / static_cast<double>(shifts_.size() * scales_.size());
  }

  double quantile(double probability) const {
    double step = law_.sd_s(shape_) + (shifts_.back() - shifts_.front());
    double lower = mean_ - step, upper = mean_ + step;
    while (cdf(lower) > probability) lower -= (step *= 2);
    while (cdf(upper) < probability) upper += (step *= 2);
    boost::uintmax_t most_steps = 100;
    const auto bracket = boost::math::tools::toms748_solve([&](double x) { return cdf(x) - probability; }, lower, upper,
                                                           boost::math::tools::eps_tolerance<double>(30), most_steps);
    return (bracket.first + bracket.second) / 2;
  }

 private:
  const core::DurationLaw& law_;
  core::KernelShape shape_;
  double mean_;
  std::vector<double> shifts_, scales_;
};

}  // namespace

Bounds mean_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level) {
  validate(fit, shape, level);
  const PolynomialFit& mu = piece_at(fit, shape).mu;
  const double quantile = students_t_quantile(mu.degrees_of_freedom, (1 + level) / 2);
  const double half = quantile * std::sqrt(variance_at(mu, shape)), mean = mu.polynomial(shape);
  return {mean - half, mean + half, level};
}

Bounds prediction_interval_s(const KernelFit& fit, const core::KernelShape& shape, double level) {
  validate(fit, shape, level);
  const PieceFit& piece = piece_at(fit, shape);
  const core::DurationLaw& law = fit.model.cluster_law().at(shape);
  if (!(law.sd_s(shape) > 0)) return mean_interval_s(fit, shape, level);
  const PredictiveLaw predictive(law, shape, std::sqrt(variance_at(piece.mu, shape)),
                                 freedom_of_sigma(piece.sigma, shape));
  return {predictive.quantile((1 - level) / 2), predictive.quantile((1 + level) / 2), level};
}

}  // namespace hplcast::fit
