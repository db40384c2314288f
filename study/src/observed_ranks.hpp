#pragma once

#include <filesystem>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "message_waits.hpp"
#include "rank_activity.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// What the ranks of one run did, brought together.
struct ObservedRanks {
  std::vector<RankActivity> ranks;
  std::vector<HostClock> clocks;
  MessageWaits waits;
  std::vector<RankPhases> phases;  ///< in the order of core::phase_names
};

/// The files run-RANK.activity of a run of `parameters`. @throws core::Error (bad_input) for ranks without a file,
/// files of several runs or of another one; core::ParseError for files that are cut off.
std::vector<RankActivity> read_ranks(const std::filesystem::path& folder, const core::HplParameters& parameters);

/// Aligns the clocks and finds out who waited. @throws core::Error if the clock of a host was not compared.
ObservedRanks observed_ranks(std::vector<RankActivity> ranks);

/// Share of the time in calls that block of which waiting was measured, 0 to 1.
double known_share(const ObservedRanks& observed);

}  // namespace hplcast::study
