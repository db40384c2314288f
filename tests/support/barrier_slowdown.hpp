// What detours cost programs that wait for each other: closed forms, beside which simulations are held.
#pragma once

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <complex>

#include "hplcast/core/errors.hpp"

namespace hplcast::tests {

/// Detours of one rank. interval_s > 0, duration_s in (0, interval_s).
struct RankDetours {
  double interval_s = 0;  ///< T
  double duration_s = 0;  ///< d
};

namespace detail {

using Complex = std::complex<double>;

inline void require_share(double share) {
  if (!(share >= 0) || !(share < 1)) throw core::DomainError("share of time", share, "a number in [0, 1)");
}

inline void require_ranks(double ranks) {
  if (!(ranks >= 1) || !std::isfinite(ranks)) throw core::DomainError("ranks", ranks, "a number of at least 1");
}

inline void require_probability(double probability) {
  if (!(probability >= 0) || !(probability <= 1))
    throw core::DomainError("probability", probability, "a number in [0, 1]");
}

inline void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw core::DomainError(name, value, "a number above 0");
}

inline void require_detours(const RankDetours& detours) {
  require_positive("interval_s", detours.interval_s);
  require_positive("duration_s", detours.duration_s);
  if (!(detours.duration_s < detours.interval_s))
    throw core::DomainError("duration_s", detours.duration_s, "less than the interval between two detours");
}

/// 1 - (1 - p)^n without cancellation.
inline double hit_at_least_once(double probability, double n) {
  return -std::expm1(n * std::log1p(-probability));
}

/// (exp(z) - 1) / z, also near 0.
inline Complex relative_growth(Complex z) {
  if (std::abs(z) < 1e-8) return 1.0 + z / 2.0;
  const double half_sine = std::sin(z.imag() / 2);
  const Complex growth(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
                       std::exp(z.real()) * std::sin(z.imag()));
  return growth / z;
}

/// The integral of U over [0, d]: U = A exp(r1 a) + B exp(r2 a), r1 r2 = q^2 lambda^2 E, r1 + r2 = -lambda.
inline double integral_of_u(double lambda, double g, double d) {
  const double q = std::exp(-lambda * g), hit = -std::expm1(-lambda * g), e = std::exp(-lambda * d);
  Complex s = std::sqrt(Complex(1 - 4 * q * q * e));
  // Equal roots need another form of U. This close to them its error is that of s^2, and rounding is below 1e-10, too.
  constexpr double equal = 1e-5;
  if (std::abs(s) < equal) s = equal;
  const Complex r1_over_e = -2 * lambda * q * q / (1.0 + s);
  const Complex r1 = e * r1_over_e, r2 = -lambda * (1.0 + s) / 2.0;
  // The condition at d is divided by E, which may underflow: exp(r2 d) / E = exp(-r1 d).
  const Complex at_d1 = r1_over_e * std::exp(r1 * d), at_d2 = r2 * std::exp(-r1 * d);
  const Complex b = (q * lambda * hit - hit * at_d1) / (at_d2 - at_d1);
  const Complex a = hit - b;
  return d * (a * relative_growth(r1 * d) + b * relative_growth(r2 * d)).real();
}

}  // namespace detail

// A slow-down is time with detours / time without. T is the mean interval between two detours of one rank, d their
// duration, eta = d / T; P ranks work for g between two barriers. All functions throw core::DomainError for arguments
// outside the domains named.

/// Slow-down of one rank, or of any number with equal phases: 1 / (1 - eta). Exact over whole periods for periodic
/// detours, in the mean for Poisson ones that queue. @param share eta, in [0, 1)
inline double slowdown_of_one_rank(double share) {
  detail::require_share(share);
  return 1 / (1 - share);
}

/// Ranks that wait for each other after every piece of work. ranks >= 1, work_s > 0.
struct BarrierSeries {
  double ranks = 1;   ///< P
  double work_s = 0;  ///< g
};

/// Whether barrier_slowdown() is defined: g <= T / 10 and g + 2 d <= T.
inline bool barrier_slowdown_is_known(const BarrierSeries& series, const RankDetours& detours) noexcept {
  // Sums of decimal fractions may be beyond their bound by a rounding error.
  const double interval_s = detours.interval_s * (1 + 1e-12);
  return series.work_s <= interval_s / 10 && series.work_s + 2 * detours.duration_s <= interval_s;
}

/// Slow-down of a series of barriers, ranks with independent phases, at most one detour per rank and step. With lambda
/// = P / T, q = exp(-lambda g), E = exp(-lambda d):
///   S = 1 + (1 / g) int_0^d U da,  U'' + lambda U' + q^2 lambda^2 E U = 0,  U(0) = 1 - q,  U'(d) = q lambda E (1 - q)
/// (the age of the newest detour at a barrier is a Markov chain). Within 0.2 % of Poisson detours for d / T <= 1e-3; 1
/// to 6 % too low for d / T of 0.01 to 0.025, where a rank is hit twice in a step.
/// Domain: as barrier_slowdown_is_known() says.
inline double barrier_slowdown(const BarrierSeries& series, const RankDetours& detours) {
  detail::require_ranks(series.ranks);
  detail::require_positive("work_s", series.work_s);
  detail::require_detours(detours);
  if (!barrier_slowdown_is_known(series, detours))
    throw core::DomainError(
        "work_s", series.work_s,
        "at most a tenth of the interval between two detours, and with two detours no more than it");
  const double lambda = series.ranks / detours.interval_s;
  return 1 + detail::integral_of_u(lambda, series.work_s, detours.duration_s) / series.work_s;
}

/// The same for g -> 0, where work goes on only while no rank is held up: (1 - eta)^-P. For P d / T below about 1.3.
inline double fine_grained_slowdown(double ranks, double share) {
  detail::require_ranks(ranks);
  detail::require_share(share);
  return std::exp(-ranks * std::log1p(-share));
}

/// No more than this with constant detours, however many ranks (g + 2 d <= T): 1 + d / g.
inline double barrier_slowdown_bound(double work_s, double duration_s) {
  detail::require_positive("work_s", work_s);
  detail::require_positive("duration_s", duration_s);
  return 1 + duration_s / work_s;
}

/// Ranks from which on detours hurt, where fine_grained_slowdown() would reach that bound: (T / d) ln(1 + d / g).
inline double ranks_that_detours_hurt(double work_s, const RankDetours& detours) {
  detail::require_positive("work_s", work_s);
  detail::require_detours(detours);
  return detours.interval_s / detours.duration_s * std::log1p(detours.duration_s / work_s);
}

// Mean of the longest of P detours, one draw per rank, where each step has fresh ones: a step takes g plus this.
// `probability` in [0, 1] is that of a rank to be hit in a step, ranks >= 1.

/// Constant durations d: d (1 - (1 - p)^P).
inline double longest_constant(double ranks, double probability, double duration_s) {
  detail::require_ranks(ranks);
  detail::require_probability(probability);
  return duration_s * detail::hit_at_least_once(probability, ranks);
}
/// Exponential durations of mean theta: theta sum_{j = 1..P} (1 - (1 - p)^j) / j; ranks are a whole number.
inline double longest_exponential(long ranks, double probability, double mean_s) {
  detail::require_ranks(static_cast<double>(ranks));
  detail::require_probability(probability);
  double sum = 0;
  for (long j = ranks; j >= 1; --j) {  // small terms first
    const double order = static_cast<double>(j);
    sum += detail::hit_at_least_once(probability, order) / order;
  }
  return mean_s * sum;
}
/// Uniform durations in [0, d]: d (1 - (1 - (1 - p)^(P + 1)) / (p (P + 1))).
inline double longest_uniform(double ranks, double probability, double most_s) {
  detail::require_ranks(ranks);
  detail::require_probability(probability);
  if (probability * ranks < 1e-7) return most_s * probability * ranks / 2;  // the form below cancels
  return most_s * (1 - detail::hit_at_least_once(probability, ranks + 1) / (probability * (ranks + 1)));
}
/// A Poisson number of mean m of detours of d each: d sum_{k >= 0} (1 - F(k)^P), F the Poisson distribution function.
inline double longest_poisson(double ranks, double mean_number, double duration_s) {
  detail::require_ranks(ranks);
  if (!(mean_number >= 0) || !(mean_number <= 1e6))
    throw core::DomainError("mean number of detours", mean_number, "a number in [0, 1e6]");
  if (mean_number == 0) return 0;
  double sum = 0;
  for (int k = 0;; ++k) {
    const double tail = boost::math::gamma_p(k + 1.0, mean_number);  // of one rank: 1 - F(k)
    const double more = detail::hit_at_least_once(tail, ranks);
    sum += more;
    if (k > mean_number && more < 1e-12) return duration_s * sum;
  }
}

}  // namespace hplcast::tests
