#pragma once

#include <string>
#include <vector>

#include "hplcast/fit/least_squares.hpp"
#include "hplcast/fit/power_fit.hpp"

namespace hplcast::fit {

/// Frequencies of active rows in GHz that are farther than 1 % apart, ascending; empty: some row does not say its own.
std::vector<double> distinct_ghz(const std::vector<PowerRow>& rows);

/// Least squares of one model on these rows.
HostPowerFit regress_power(const std::vector<PowerRow>& rows, int degree);

/// y on 1, x and x^2.
LeastSquares fit_quadratic(const std::vector<double>& x, const std::vector<double>& y);

/// t-value and size (in W, at half of the cores) of a term cores^2 of a state, if the rows can tell it.
struct Curvature {
  double t_value = 0, size_w = 0;
};
Curvature curvature_of(const HostPowerFit& fit, const std::string& state);

/// Doubts about a fit of power: adds them to its flags.
void add_power_flags(const PowerRows& rows, PowerFit& fit);

}  // namespace hplcast::fit
