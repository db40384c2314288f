#include <cerrno>
#include <cstring>
#include <set>

#include "power_finders.hpp"
#include "sysfs.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

constexpr double micro = 1e-6;

/// "package-0" for intel-rapl:0, "package-0 dram" for its part intel-rapl:0:1.
std::string rapl_name(const fs::path& zone) {
  const std::string file = zone.filename();
  std::string own = first_line(zone / "name");
  const std::size_t last = file.rfind(':');
  if (last == file.find(':')) return own;
  return first_line(zone.parent_path() / file.substr(0, last) / "name") + " " + own;
}

/// What a zone sees, by its own name: package-N, dram, psys, core, uncore.
core::PowerDomain domain_of(const std::string& own_name) {
  if (own_name.rfind("package", 0) == 0) return core::PowerDomain::package;
  if (own_name.rfind("dram", 0) == 0) return core::PowerDomain::dram;
  if (own_name.rfind("psys", 0) == 0) return core::PowerDomain::platform;
  return core::PowerDomain::part;
}

/// The lowest limit that is on: constraint_*_power_limit_uw.
std::optional<double> limit_of(const fs::path& zone) {
  std::optional<double> least;
  if (first_line(zone / "enabled") == "0") return least;
  for (const fs::path& file : entries(zone, "constraint_")) {
    const std::string name = file.filename();
    if (name.find("_power_limit_uw") == std::string::npos) continue;
    const auto value = first_number(file);
    if (value && *value > 0 && (!least || *value * micro < *least)) least = *value * micro;
  }
  return least;
}

}  // namespace

void find_rapl(const fs::path& root, PowerMeters& meters) {
  // The class lists zones of all drivers; intel-rapl-mmio sees the same packages once more.
  const std::vector<fs::path> zones = entries(root / "sys/class/powercap", "intel-rapl:");
  std::size_t readable = 0;
  std::string reason;
  std::set<std::string> names;
  for (const fs::path& zone : zones) {
    const fs::path counter = zone / "energy_uj";
    std::string why = why_unreadable(counter);
    const auto range = first_number(zone / "max_energy_range_uj");
    if (why.empty() && !range) why = "its max_energy_range_uj cannot be read";
    if (!why.empty()) {
      reason = why;
      continue;
    }
    ++readable;
    std::string name = rapl_name(zone);
    if (!names.insert(name).second) name += " " + zone.filename().string();
    meters.meters.push_back(counter_meter(
        name, domain_of(first_line(zone / "name")),
        [counter]() -> std::optional<double> {
          const auto value = first_number(counter);
          return value ? std::optional<double>(*value * micro) : std::nullopt;
        },
        *range* micro, limit_of(zone)));
  }
  std::string found = std::to_string(zones.size()) + " zones";
  if (zones.empty()) found = "none";
  if (readable < zones.size()) found += ", " + std::to_string(zones.size() - readable) + " unreadable: " + reason;
  if (reason == std::strerror(EACCES))
    found +=
        " (energy_uj belongs to root, mode 0400, since 2020; root may allow it with `chmod a+r "
        "/sys/class/powercap/intel-rapl:*/energy_uj`)";
  meters.looked_for.push_back({MeterKind::rapl, "RAPL (/sys/class/powercap/intel-rapl:*/energy_uj)", found});
}

}  // namespace hplcast::calibration
