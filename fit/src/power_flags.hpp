#pragma once

#include "hplcast/fit/power_fit.hpp"
#include "power_regression.hpp"

namespace hplcast::fit {

/// Doubts about a fit of power: adds them to its flags.
void add_power_flags(const PowerRows& rows, const RegressionNotes& notes, PowerFit& fit);

}  // namespace hplcast::fit
