#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Files of /proc and /sys: one value per file; they may be missing, and vanish at any time.
namespace hplcast::calibration {

/// First line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& path);

/// The number that the first line begins with, if it does.
std::optional<double> first_number(const std::filesystem::path& path);

/// Why a file has no number for us: "Permission denied", "no number in it"; empty: it begins with one.
std::string why_unreadable(const std::filesystem::path& path);

/// Entries of a folder whose names begin with `prefix`, sorted; empty if it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace hplcast::calibration
