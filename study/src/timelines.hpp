#pragma once

#include <string>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "observed_ranks.hpp"

namespace hplcast::study {

/// Writes request.trace and request.picture, where asked for: a run and its simulation, aligned at the start of the
/// first factorisation. Returns the picture.
std::string write_timelines(const ExplainRequest& request, const ObservedRanks& real,
                            const std::vector<RankActivity>& simulated);

}  // namespace hplcast::study
