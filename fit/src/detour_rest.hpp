#pragma once

#include <vector>

#include "hplcast/fit/detour_sources.hpp"

namespace hplcast::fit {

/// Poisson sources of the rest: events that hit all cores of a host at once, or all hosts, if they are more than chance
/// would give, are sources per host or per cluster; the others one per core, and one more for each core number that has
/// far more than most.
/// @param cores  with the events that no periodic source has
std::vector<FoundDetours> fit_rest(std::vector<core::CoreDetours> cores, const DetourFitOptions& options);

}  // namespace hplcast::fit
