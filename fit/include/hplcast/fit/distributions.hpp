#pragma once

namespace hplcast::fit {

/// Quantiles and tails of the laws that tests and intervals need, by Boost.Math: in a file of their own, since its
/// headers take longer to compile than what uses them.
///
/// `probability` is above 0 and below 1, degrees of freedom are positive: as Boost.Math, they throw std::domain_error
/// otherwise. Tails are the probability of a larger value.
double normal_quantile(double probability);
double students_t_quantile(double freedom, double probability);
double students_t_tail(double freedom, double value);
double chi_squared_quantile(double freedom, double probability);

/// F with so many degrees of freedom in the numerator and in the denominator.
double fisher_f_quantile(double numerator, double denominator, double probability);
double fisher_f_tail(double numerator, double denominator, double value);

}  // namespace hplcast::fit
