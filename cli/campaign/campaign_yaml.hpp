#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hplcast/calibration/campaign.hpp"

namespace YAML {
class Node;
}

namespace hplcast::cli {

/// What all steps have.
struct CampaignCommon {
  std::uint64_t seed = 1;
  std::filesystem::path programs;
  int ranks_per_host = 1;
  bool several_hosts = false;
  int ranks = 1;  ///< of all hosts
  bool oversubscribe = false;
};

/// Step `number` of a campaign, with its design. `left_out` says why there is nothing to measure; empty: there is.
/// @throws ParseError with line and key, DomainError for designs that cannot be.
calibration::CampaignStep read_step(const YAML::Node& node, const std::string& file, std::size_t number,
                                    CampaignCommon common, std::string& left_out);

/// Reads a campaign (docs/formats/campaign.md) and makes the designs of its steps. `programs` is the folder of the
/// measuring programs.
/// @throws ParseError with line and key for what is no campaign, DomainError for designs that cannot be.
calibration::CampaignPlan read_campaign(const std::string& text, const std::string& name,
                                        const std::filesystem::path& programs);

}  // namespace hplcast::cli
