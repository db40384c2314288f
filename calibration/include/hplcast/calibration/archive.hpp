#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hplcast/core/campaign.hpp"

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

/// Reads an archive, or the folder of a campaign, also of one that is not finished.
/// @throws core::Error (bad_input) if that is no campaign, core::ParseError for damaged files.
core::CampaignArchive read_campaign_archive(const std::filesystem::path& path);

}  // namespace hplcast::calibration
