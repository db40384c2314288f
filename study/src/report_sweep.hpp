#pragma once

#include <string>
#include <vector>

#include "hplcast/study/sweep_database.hpp"

namespace hplcast::study {

/// What a sweep shows, as HTML: the best and the worst configuration; Gflop/s over every factor that is a number; over
/// the process grid; the influence of all factors; all results. Empty without results.
std::string sweep_html(const std::vector<SweepResult>& results);

}  // namespace hplcast::study
