#include "hplcast/calibration/sensors.hpp"

#include <algorithm>
#include <fstream>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "sysfs.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr double kilo = 1e3, milli = 1e-3, micro = 1e-6;

/// Entries of a folder whose names begin with `prefix`, sorted.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// "package-0" for intel-rapl:0, "package-0 dram" for its part intel-rapl:0:1.
std::string rapl_name(const fs::path& zone) {
  const std::string file = zone.filename();
  std::string own = first_line(zone / "name");
  const std::size_t last = file.rfind(':');
  if (last == file.find(':')) return own;
  return first_line(zone.parent_path() / file.substr(0, last) / "name") + " " + own;
}

}  // namespace

const char* to_string(Quantity quantity) {
  switch (quantity) {
    case Quantity::frequency_hz:
      return "frequency_hz";
    case Quantity::temperature_celsius:
      return "temperature_celsius";
    case Quantity::power_w:
      return "power_w";
    case Quantity::throttle_count:
      break;
  }
  return "throttle_count";
}

Sensors Sensors::discover(const fs::path& root) {
  Sensors sensors;
  const auto add = [&](Quantity quantity, const std::string& name, const fs::path& file, double unit) {
    if (first_number(file)) sensors.gauges_.push_back({quantity, name, file, unit});
  };
  for (const fs::path& cpu : entries(root / "sys/devices/system/cpu", "cpu")) {
    const std::string name = cpu.filename();
    add(Quantity::frequency_hz, name, cpu / "cpufreq/scaling_cur_freq", kilo);
    add(Quantity::throttle_count, name, cpu / "thermal_throttle/core_throttle_count", 1);
    add(Quantity::throttle_count, name + " package", cpu / "thermal_throttle/package_throttle_count", 1);
  }
  for (const fs::path& chip : entries(root / "sys/class/hwmon", "hwmon")) {
    for (const fs::path& input : entries(chip, "temp")) {
      const std::string file = input.filename();
      const std::size_t ending = file.find("_input");
      if (ending == std::string::npos) continue;
      const std::string label = first_line(chip / (file.substr(0, ending) + "_label"));
      add(Quantity::temperature_celsius,
          first_line(chip / "name") + " " + (label.empty() ? file.substr(0, ending) : label), input, milli);
    }
  }
  for (const fs::path& zone : entries(root / "sys/class/powercap", "intel-rapl:")) {
    const auto range = first_number(zone / "max_energy_range_uj");
    if (!range || !first_number(zone / "energy_uj")) continue;
    sensors.energies_.push_back({rapl_name(zone), zone / "energy_uj", *range * micro});
  }
  return sensors;
}

std::vector<Reading> Sensors::read(double time_s) {
  std::vector<Reading> readings;
  readings.reserve(size());
  for (const Gauge& gauge : gauges_) {
    if (const auto value = first_number(gauge.file)) {
      readings.push_back({time_s, gauge.quantity, gauge.name, *value * gauge.unit});
    }
  }
  for (Energy& energy : energies_) {
    const auto value = first_number(energy.file);
    if (!value) continue;
    const double now_j = *value * micro;
    const double used_j = now_j >= energy.last_j ? now_j - energy.last_j : now_j + energy.range_j - energy.last_j;
    if (energy.last_j >= 0 && time_s > energy.last_s) {
      readings.push_back({time_s, Quantity::power_w, energy.name, used_j / (time_s - energy.last_s)});
    }
    energy.last_j = now_j;
    energy.last_s = time_s;
  }
  return readings;
}

void write_monitoring_header(std::ostream& out) {
  out << "host,time_s,quantity,sensor,value\n";
}

void write_monitoring_rows(std::ostream& out, const std::string& host, double epoch_s,
                           const std::vector<Reading>& readings) {
  for (const Reading& reading : readings) {
    out << core::csv_field(host) << ',' << core::shortest(reading.time_s - epoch_s) << ','
        << to_string(reading.quantity) << ',' << core::csv_field(reading.sensor) << ',' << core::shortest(reading.value)
        << '\n';
  }
}

}  // namespace hplcast::calibration
