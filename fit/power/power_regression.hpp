#pragma once

#include <set>
#include <string>
#include <vector>

#include "hplcast/fit/power_fit.hpp"

namespace hplcast::fit {

/// Frequencies of active rows in GHz that are farther than 1 % apart, ascending; empty: some row does not say its own.
std::vector<double> distinct_ghz(const std::vector<PowerRow>& rows);

/// What the regression of a set of rows found besides numbers.
struct RegressionNotes {
  std::set<std::string> sleeping;        ///< states that add nothing
  std::set<std::string> degree_lowered;  ///< states, awake
  bool awake_unknown = false;            ///< in the watts of the cores
  bool idle_unknown = false;             ///< there is no idle row
  std::string failure;                   ///< why there is no fit; empty: there is one
};

/// Least squares of one model on these rows.
HostPowerFit regress_power(const std::vector<PowerRow>& rows, int degree, RegressionNotes& notes);

/// t-value and size (in W, at half of the cores) of a term cores^2 of a state, if the rows can tell it.
struct Curvature {
  double t_value = 0, size_w = 0;
};
Curvature curvature_of(const HostPowerFit& fit, const std::string& state);

/// Doubts about a fit of power: adds them to its flags.
void add_power_flags(const PowerRows& rows, const RegressionNotes& notes, PowerFit& fit);

}  // namespace hplcast::fit
