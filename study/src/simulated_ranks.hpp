#pragma once

#include <filesystem>
#include <vector>

#include "observed_ranks.hpp"

namespace hplcast::study {

/// The events of a simulation (Chrome's JSON of `predict --trace`) as those of a run: one clock, all panels -1,
/// messages numbered on their channels. Sums are those of the events. @throws core::ParseError if it is no such trace.
std::vector<RankActivity> simulated_ranks(const std::filesystem::path& trace, int ranks);

}  // namespace hplcast::study
