#pragma once

#include <filesystem>
#include <optional>
#include <string>

// Files of /proc and /sys: one value per file; they may be missing, and vanish at any time.
namespace hplcast::calibration {

/// First line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& path);

/// The number that the first line begins with, if it does.
std::optional<double> first_number(const std::filesystem::path& path);

}  // namespace hplcast::calibration
