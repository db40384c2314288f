#include "hplcast/study/run_energy.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace hplcast::study {

namespace {

std::string percent_text(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

RunEnergy unknown(const std::string& why) {
  RunEnergy energy;
  energy.doubt = why;
  return energy;
}

}  // namespace

RunEnergy energy_of_run(const std::vector<core::PowerSample>& samples, double begin_unix_s, double end_unix_s) {
  constexpr double least_covered = 0.5, enough_covered = 0.9;
  if (!(begin_unix_s > 0) || !(end_unix_s > begin_unix_s))
    return unknown("HPL did not say when it computed: only the xhpl of hplcast does");
  std::map<std::string, std::vector<core::PowerSample>> by_sensor;
  for (const core::PowerSample& sample : samples) by_sensor[sample.sensor].push_back(sample);
  RunEnergy energy;
  energy.sensors = core::sensors_of_host(core::seen_sensors(samples));
  if (energy.sensors.empty()) return unknown("no sensor of the host has said anything");
  energy.covered = 1;
  for (const std::string& sensor : energy.sensors) {
    const core::MeasuredEnergy part = core::energy_between(by_sensor[sensor], begin_unix_s, end_unix_s);
    energy.covered = std::min(energy.covered, part.covered);
    if (part.covered < least_covered || part.samples < 2)
      return unknown(sensor + " has samples in " + percent_text(part.covered) +
                     " of the run; expected at least 50 %, and two: a run longer than a few periods");
    energy.energy_j += part.energy_j;
  }
  if (energy.covered < enough_covered)
    energy.doubt =
        "sensors have samples in " + percent_text(energy.covered) + " of the run: the rest is taken as their mean";
  return energy;
}

}  // namespace hplcast::study
