#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/fit/comparison.hpp"

namespace hplcast::fit {

namespace {

constexpr std::size_t most_values = 5000;

/// c[0] + c[1] x + c[2] x^2 + ...
double polynomial(const std::vector<double>& c, double x) {
  double sum = 0;
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// The weights of the upper half of the sorted values, the largest first (Royston 1995, section 2).
std::vector<double> weights(std::size_t count) {
  const std::size_t half = count / 2;
  if (count == 3) return {std::sqrt(0.5)};
  const double n = static_cast<double>(count);
  std::vector<double> m(half);  // expected order statistics of a normal sample, positive ones
  double squares = 0;
  for (std::size_t i = 0; i < half; ++i) {
    m[i] = -boost::math::quantile(boost::math::normal(), (static_cast<double>(i) + 1 - 0.375) / (n + 0.25));
    squares += 2 * m[i] * m[i];
  }
  const double u = 1 / std::sqrt(n);
  std::vector<double> a(half);
  a[0] = polynomial({0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056}, u) + m[0] / std::sqrt(squares);
  double left = squares - 2 * m[0] * m[0], right = 1 - 2 * a[0] * a[0];
  std::size_t next = 1;
  if (count > 5) {
    a[1] = polynomial({0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633}, u) + m[1] / std::sqrt(squares);
    left -= 2 * m[1] * m[1];
    right -= 2 * a[1] * a[1];
    next = 2;
  }
  for (std::size_t i = next; i < half; ++i) a[i] = m[i] / std::sqrt(left / right);
  return a;
}

double p_value(double w, std::size_t count) {
  const double n = static_cast<double>(count), log_n = std::log(n);
  if (count == 3) {
    constexpr double pi = 3.14159265358979323846;
    return std::clamp(6 / pi * (std::asin(std::sqrt(w)) - std::asin(std::sqrt(0.75))), 0.0, 1.0);
  }
  double y = std::log1p(-w), mean = 0, sd = 1;
  if (count <= 11) {
    const double gamma = polynomial({-2.273, 0.459}, n);
    if (y >= gamma) return 0;
    y = -std::log(gamma - y);
    mean = polynomial({0.544, -0.39978, 0.025054, -6.714e-4}, n);
    sd = std::exp(polynomial({1.3822, -0.77857, 0.062767, -0.0020322}, n));
  } else {
    mean = polynomial({-1.5861, -0.31082, -0.083751, 0.0038915}, log_n);
    sd = std::exp(polynomial({-0.4803, -0.082676, 0.0030302}, log_n));
  }
  return 0.5 * std::erfc((y - mean) / sd / std::sqrt(2.0));
}

}  // namespace

TestResult shapiro_wilk(std::vector<double> values) {
  if (values.size() < 3) throw core::DomainError("number of values", static_cast<double>(values.size()), "at least 3");
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError("value", value, "finite numbers");
  std::sort(values.begin(), values.end());
  if (values.size() > most_values) {
    std::vector<double> spread;
    for (std::size_t i = 0; i < most_values; ++i)
      spread.push_back(values[(2 * i + 1) * values.size() / (2 * most_values)]);
    values = std::move(spread);
  }
  if (!(values.back() > values.front())) throw core::DomainError("values", "all equal", "values that differ");
  const std::vector<double> a = weights(values.size());
  // Relative to the spread, so that squares of microseconds do not underflow.
  const double least = values.front(), scale = values.back() - least;
  double mean = 0, numerator = 0, squares = 0;
  for (double& value : values) {
    value = (value - least) / scale;
    mean += value / static_cast<double>(values.size());
  }
  for (double value : values) squares += (value - mean) * (value - mean);
  for (std::size_t i = 0; i < a.size(); ++i) numerator += a[i] * (values[values.size() - 1 - i] - values[i]);
  const double w = std::min(1.0, numerator * numerator / squares);
  return {w, p_value(w, values.size())};
}

}  // namespace hplcast::fit
