#pragma once

#include <vector>

#include "hplcast/fit/detour_sources.hpp"

namespace hplcast::fit {

/// A core with the events that no periodic source has.
struct RestCore {
  std::string host;
  int number = 0;  ///< in the host
  double watched_s = 0;
  std::vector<core::DetourEvent> events;
};

/// Poisson sources of the rest: events that hit all cores of a host at once, or all hosts, if they are more than chance
/// would give, are sources per host or per cluster; the others one per core, and one more for each core number that has
/// far more than most.
std::vector<FoundDetours> fit_rest(std::vector<RestCore> cores, const DetourFitOptions& options);

}  // namespace hplcast::fit
