#include "power_options.hpp"

#include <set>

#include "hplcast/calibration/frequency_control.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

using calibration::MeterKind;

CLI::Option* add_sensor_option(CLI::App& app, std::vector<std::string>& kinds) {
  return app
      .add_option("--sensors", kinds,
                  std::string("kinds of sensors to read: ") + calibration::meter_names + " (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"rapl", "hwmon", "ipmi", "cray"}));
}

std::vector<MeterKind> meter_kinds(const std::vector<std::string>& names) {
  if (names.empty()) return calibration::all_meters;
  std::set<MeterKind> kinds;
  for (const std::string& name : names) {
    if (name == "rapl") kinds.insert(MeterKind::rapl);
    if (name == "hwmon") kinds.insert(MeterKind::hwmon);
    if (name == "ipmi") kinds.insert(MeterKind::ipmi);
    if (name == "cray") kinds.insert(MeterKind::cray);
  }
  return {kinds.begin(), kinds.end()};
}

double parse_frequency(const std::string& text) {
  const std::size_t unit_at = text.find_first_not_of("0123456789.eE+- ");
  const std::string unit = unit_at == std::string::npos ? "" : text.substr(unit_at);
  const double factor = unit == "GHz" ? 1e9 : unit == "MHz" ? 1e6 : unit == "kHz" ? 1e3 : unit == "Hz" ? 1 : 0;
  double value = 0;
  if (factor == 0 || !core::parse_double(text.substr(0, unit_at), value) || !(value > 0))
    throw core::UsageError("`" + text + "` is no frequency; expected such as 2.3GHz or 1800MHz");
  return value * factor;
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
  for (const std::string& text : texts) frequencies.push_back(parse_frequency(text));
  if (std::set<double>(frequencies.begin(), frequencies.end()).size() != frequencies.size())
    throw core::UsageError("--frequencies has one twice");
  return frequencies;
}

}  // namespace hplcast::cli
