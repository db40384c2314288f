#pragma once

#include <filesystem>

#include "hplcast/calibration/power_meter.hpp"

// Each adds the meters of its kind that can be read, and what it looked for.
namespace hplcast::calibration {

/// Zones of /sys/class/powercap (Intel and AMD).
void find_rapl(const std::filesystem::path& root, PowerMeters& meters);
/// power*_input, power*_average and energy*_input of /sys/class/hwmon.
void find_hwmon_power(const std::filesystem::path& root, PowerMeters& meters);
/// `ipmitool dcmi power reading`.
void find_ipmi(const std::filesystem::path& root, PowerMeters& meters);
/// /sys/cray/pm_counters.
void find_cray(const std::filesystem::path& root, PowerMeters& meters);

}  // namespace hplcast::calibration
