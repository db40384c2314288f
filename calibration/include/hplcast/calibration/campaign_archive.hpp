#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/quality_flag.hpp"

namespace hplcast::calibration {

/// What run_campaign() has measured, as it is read (docs/formats/campaign.md).
struct CampaignArchive {
  std::map<std::string, std::string> files;         ///< by path
  std::map<std::string, std::string> measurements;  ///< those of them that models are fitted to
  MeasurementContext context;                       ///< of the whole campaign; one host at least
};

/// Reads an archive, or the folder of a campaign, also of one that is not finished.
/// @throws core::Error (bad_input) if that is no campaign, core::ParseError for damaged files.
CampaignArchive read_campaign_archive(const std::filesystem::path& path);

/// Doubts that have nothing to do with models: oversubscribed, busy_host, idle_cores, throttling.
std::vector<core::QualityFlag> host_doubts(const CampaignArchive& archive);

/// What was measured, when, where, with which software: a JSON object for the provenance of a cluster.json.
std::string origin_json(const CampaignArchive& archive);

}  // namespace hplcast::calibration
