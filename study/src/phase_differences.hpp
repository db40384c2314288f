#pragma once

#include <filesystem>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// What write_phases_csv() wrote. @throws core::ParseError
std::vector<RankPhases> read_phases_csv(const std::filesystem::path& path);

/// The mean of several runs with as many ranks.
std::vector<RankPhases> mean_of(const std::vector<std::vector<RankPhases>>& runs);

/// Phase by phase. `predicted` may be without ranks of its own: then `summaries` say what is known of it, and no rank
/// stands out. A rank stands out if its difference is more than 2 % of the run and five robust standard deviations away
/// from the middle of all.
std::vector<PhaseDifference> phase_differences(const std::vector<RankPhases>& real,
                                               const std::vector<RankPhases>& predicted,
                                               const std::vector<core::PhaseSummary>& summaries, double predicted_s);

}  // namespace hplcast::study
