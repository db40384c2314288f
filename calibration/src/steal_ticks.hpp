#pragma once

#include <optional>
#include <sstream>
#include <string>

namespace hplcast::calibration {

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
