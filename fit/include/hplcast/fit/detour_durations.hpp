#pragma once

#include <vector>

#include "hplcast/core/detours.hpp"

namespace hplcast::fit {

/// The law of durations: constant if 90 percent of them are within 2 percent of their median; exponential or uniform if
/// the largest distance of the distributions is below its 1 percent limit (Lilliefors 1969 for the exponential law,
/// whose mean is estimated) and there are at least 20; else quantiles at steps of 1/40, of which the last is moved so
/// that the mean is that of the durations: rare long ones take their share of the time, not more.
/// @throws core::DomainError for no durations, or ones that are not above 0.
core::DetourDuration fit_duration(std::vector<double> durations_s);

}  // namespace hplcast::fit
