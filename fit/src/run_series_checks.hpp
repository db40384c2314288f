#pragma once

#include "hplcast/fit/run_series.hpp"

namespace hplcast::fit {

/// @throws core::DomainError for lengths that differ, epochs that fall, values that are not finite.
void require_valid(const RunSeries& series);

/// @throws core::DomainError for a confidence outside (0, 1), a window of 0, fewer runs than 2, a negative least_sd.
void require_valid_test(double confidence, std::size_t window, std::size_t least_runs, double least_sd);

/// Of one factor: below or above; of several: outside.
Region flagged_region(std::size_t dimensions, double observed, double expected);

}  // namespace hplcast::fit
