#include "hplcast/core/text.hpp"
#include "power_finders.hpp"
#include "sysfs.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr double micro = 1e-6;

/// ACPI's power meter sees the host. AMD's counters of sockets are packages, those of cores are in them. Whatever else
/// has a power (graphics cards, rails of a board) is no sum of a host.
core::PowerDomain domain_of(const std::string& chip, const std::string& label) {
  if (chip == "power_meter" || chip == "acpi_power_meter") return core::PowerDomain::host;
  if (chip == "amd_energy")
    return label.rfind("Esocket", 0) == 0 ? core::PowerDomain::package : core::PowerDomain::part;
  return core::PowerDomain::other;
}

std::optional<double> scaled(const fs::path& file) {
  const auto value = first_number(file);
  return value ? std::optional<double>(*value * micro) : std::nullopt;
}

/// RAPL sees the same packages: they must not be added twice.
bool has_packages(const PowerMeters& meters) {
  for (const auto& meter : meters.meters)
    if (meter->domain() == core::PowerDomain::package) return true;
  return false;
}

void add_input(const fs::path& chip, const fs::path& folder, const fs::path& file, bool packages_known,
               PowerMeters& meters) {
  const std::string name = file.filename(), chip_name = first_line(chip / "name");
  const std::string item = name.substr(0, name.find('_'));
  std::string label = first_line(folder / (item + "_label"));
  if (label.empty()) label = item;
  core::PowerDomain domain = domain_of(chip_name, label);
  if (packages_known && domain == core::PowerDomain::package) domain = core::PowerDomain::other;
  const std::string sensor = chip_name + " " + label;
  const auto value = [file] { return scaled(file); };
  // Counters of hwmon have 64 bits.
  if (item.rfind("energy", 0) == 0) {
    meters.meters.push_back(counter_meter(sensor, domain, value, 0));
  } else {
    meters.meters.push_back(gauge_meter(sensor, domain, value));
  }
}

}  // namespace

void find_hwmon_power(const fs::path& root, PowerMeters& meters) {
  const bool packages_known = has_packages(meters);
  std::size_t inputs = 0, unreadable = 0;
  std::string reason;
  for (const fs::path& chip : entries(root / "sys/class/hwmon", "hwmon")) {
    // Older drivers have their files in the device's folder.
    for (const fs::path& folder : {chip, chip / "device"}) {
      std::vector<fs::path> files = entries(folder, "power");
      for (const fs::path& file : entries(folder, "energy")) files.push_back(file);
      for (const fs::path& file : files) {
        const std::string name = file.filename();
        if (!core::ends_with(name, "_input") && !core::ends_with(name, "_average")) continue;
        // Where a power has both, its mean says more.
        if (core::ends_with(name, "_input") && fs::exists(folder / (name.substr(0, name.find('_')) + "_average")))
          continue;
        ++inputs;
        const std::string why = why_unreadable(file);
        if (why.empty()) {
          add_input(chip, folder, file, packages_known, meters);
        } else {
          ++unreadable;
          reason = why;
        }
      }
    }
  }
  std::string found = inputs == 0 ? "none" : std::to_string(inputs) + " inputs";
  if (unreadable > 0) found += ", " + std::to_string(unreadable) + " unreadable: " + reason;
  meters.looked_for.push_back({MeterKind::hwmon, "hwmon (/sys/class/hwmon/hwmon*/power*_input, energy*_input)", found});
}

}  // namespace hplcast::calibration
