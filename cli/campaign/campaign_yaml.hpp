#pragma once

#include <filesystem>
#include <string>

#include "hplcast/calibration/campaign.hpp"

namespace hplcast::cli {

/// Reads a campaign (docs/formats/campaign.md) and makes the designs of its steps. `programs` is the folder of the
/// measuring programs.
/// @throws ParseError with line and key for what is no campaign, DomainError for designs that cannot be.
calibration::CampaignPlan read_campaign(const std::string& text, const std::string& name,
                                        const std::filesystem::path& programs);

}  // namespace hplcast::cli
