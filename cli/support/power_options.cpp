#include "cli/support/power_options.hpp"

#include <algorithm>
#include <set>

#include "hplcast/calibration/measure_power.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/units.hpp"

namespace hplcast::cli {

using calibration::MeterKind;

Option* add_sensor_option(Command& app, std::vector<std::string>& kinds) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : calibration::meter_kinds_by_name) names.push_back(name);
  return app
      .add_option("--sensors", kinds, "kinds of sensors to read: " + core::comma_separated(names) + " (default: all)")
      ->delimiter(',')
      ->check(among(names));
}

std::vector<MeterKind> meter_kinds(const std::vector<std::string>& names) {
  if (names.empty()) return calibration::all_meters;
  std::set<MeterKind> kinds;
  for (const auto& [name, kind] : calibration::meter_kinds_by_name)
    if (std::find(names.begin(), names.end(), name) != names.end()) kinds.insert(kind);
  return {kinds.begin(), kinds.end()};
}

std::vector<double> frequencies_of(const std::vector<std::string>& texts, const std::string& root) {
  if (texts.empty()) return {};
  if (texts.size() == 1 && (texts.front() == "all" || texts.front() == "three")) {
    const calibration::FrequencyControl control(root);
    const std::vector<double>& states = control.states_hz();
    if (states.empty())
      throw core::Error(core::ExitCode::bad_input,
                        "this host does not say which frequencies it has: no "
                        "/sys/devices/system/cpu/cpu*/cpufreq\n  hint: without --frequencies they are left alone");
    if (texts.front() == "all" || states.size() <= 3) return states;
    return {states.back(), states[states.size() / 2], states.front()};
  }
  std::vector<double> frequencies;
  for (const std::string& text : texts) frequencies.push_back(core::parse_hertz(text));
  if (std::set<double>(frequencies.begin(), frequencies.end()).size() != frequencies.size())
    throw core::UsageError("--frequencies has one twice");
  return frequencies;
}

}  // namespace hplcast::cli
