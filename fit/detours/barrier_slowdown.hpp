#pragma once

namespace hplcast::fit {

// What detours cost programs that wait for each other: closed forms. A slow-down is time with detours / time without.
// T is the mean interval between two detours of one rank, d their duration, eta = d / T; P ranks work for g between two
// barriers. All functions throw core::DomainError for arguments outside the domains named.

/// Slow-down of one rank, or of any number with equal phases: 1 / (1 - eta). Exact over whole periods for periodic
/// detours, in the mean for Poisson ones that queue. @param share eta, in [0, 1)
double slowdown_of_one_rank(double share);

/// Detours of one rank. interval_s > 0, duration_s in (0, interval_s).
struct RankDetours {
  double interval_s = 0;  ///< T
  double duration_s = 0;  ///< d
};

/// Ranks that wait for each other after every piece of work. ranks >= 1, work_s > 0.
struct BarrierSeries {
  double ranks = 1;   ///< P
  double work_s = 0;  ///< g
};

/// Whether barrier_slowdown() is defined: g <= T / 10 and g + 2 d <= T.
bool barrier_slowdown_is_known(const BarrierSeries& series, const RankDetours& detours) noexcept;

/// Slow-down of a series of barriers, ranks with independent phases, at most one detour per rank and step. With lambda
/// = P / T, q = exp(-lambda g), E = exp(-lambda d):
///   S = 1 + (1 / g) int_0^d U da,  U'' + lambda U' + q^2 lambda^2 E U = 0,  U(0) = 1 - q,  U'(d) = q lambda E (1 - q)
/// (the age of the newest detour at a barrier is a Markov chain). Within 0.2 % of Poisson detours for d / T <= 1e-3; 1
/// to 6 % too low for d / T of 0.01 to 0.025, where a rank is hit twice in a step.
/// Domain: as barrier_slowdown_is_known() says.
double barrier_slowdown(const BarrierSeries& series, const RankDetours& detours);

/// The same for g -> 0, where work goes on only while no rank is held up: (1 - eta)^-P. For P d / T below about 1.3.
double fine_grained_slowdown(double ranks, double share);

/// No more than this with constant detours, however many ranks (g + 2 d <= T): 1 + d / g.
double barrier_slowdown_bound(double work_s, double duration_s);

/// Ranks from which on detours hurt, where fine_grained_slowdown() would reach that bound: (T / d) ln(1 + d / g).
double ranks_that_detours_hurt(double work_s, const RankDetours& detours);

// Mean of the longest of P detours, one draw per rank, where each step has fresh ones: a step takes g plus this.
// `probability` in [0, 1] is that of a rank to be hit in a step, ranks >= 1.

/// Constant durations d: d (1 - (1 - p)^P).
double longest_constant(double ranks, double probability, double duration_s);
/// Exponential durations of mean theta: theta sum_{j = 1..P} (1 - (1 - p)^j) / j; ranks are a whole number.
double longest_exponential(long ranks, double probability, double mean_s);
/// Uniform durations in [0, d]: d (1 - (1 - (1 - p)^(P + 1)) / (p (P + 1))).
double longest_uniform(double ranks, double probability, double most_s);
/// A Poisson number of mean m of detours of d each: d sum_{k >= 0} (1 - F(k)^P), F the Poisson distribution function.
double longest_poisson(double ranks, double mean_number, double duration_s);

}  // namespace hplcast::fit
