#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/doubts.hpp"

namespace hplcast::calibration {

/// Packs the files of a folder that are not empty, with their paths in it, under a folder of that name. The ending of
/// `archive` decides: .zip, .tar.zst or .tar.gz. The archive is there whole or not at all.
/// @throws core::Error (bad_input) for another ending, or if something cannot be read or written.
void write_archive(const std::filesystem::path& archive, const std::filesystem::path& folder, const std::string& name);

/// The files of an archive by their path without the first folder. Any format that libarchive reads.
/// @throws core::Error (bad_input) if it is no archive, or damaged.
std::map<std::string, std::string> read_archive(const std::filesystem::path& archive);

/// By its ending: something for read_archive().
bool has_archive_name(const std::filesystem::path& path);

/// The files of a folder in the same way. @throws core::Error (bad_input) if it cannot be read.
std::map<std::string, std::string> read_folder(const std::filesystem::path& folder);

/// @throws core::Error (bad_input) unless write_archive() knows the ending.
void require_archive_name(const std::filesystem::path& archive);

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
