#pragma once

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

// Files of /proc and /sys: one value per file; they may be missing, and vanish at any time.
namespace hplcast::calibration {

/// First line of a file; empty if it cannot be read.
std::string first_line(const std::filesystem::path& path);

/// The number that the first line begins with, if it does.
std::optional<double> first_number(const std::filesystem::path& path);

/// The first "KEY : value" of /proc/cpuinfo; empty if there is none.
std::string of_cpuinfo(const std::filesystem::path& root, const std::string& key);

/// Why a file has no number for us: "Permission denied", "no number in it"; empty: it begins with one.
std::string why_unreadable(const std::filesystem::path& path);

/// Entries of a folder whose names begin with `prefix`, sorted; empty if it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, const std::string& prefix);

/// Tasks of others that run or could run, mean of ten looks in half a second: those of /proc/loadavg ("0.20 0.18 0.12
/// 1/80 11206") less those of processes with our name and our parent, which are we and the ranks that wait beside us.
std::optional<double> runnable_of_others(const std::filesystem::path& root);

/// Ticks of all CPUs since boot, and those that went to other virtual machines; nothing if the kernel does not tell.
struct StealTicks {
  double all = 0;
  std::optional<double> stolen;
};

/// From the first line of /proc/stat: "cpu", then ticks, of which the eighth are stolen.
inline StealTicks steal_ticks(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  StealTicks ticks;
  double value = 0;
  for (int field = 1; field <= 8 && words >> value; ++field) {
    ticks.all += value;
    if (field == 8) ticks.stolen = value;
  }
  return ticks;
}

}  // namespace hplcast::calibration
