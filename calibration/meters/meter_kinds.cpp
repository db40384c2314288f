#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/power_meter.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

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
core::PowerDomain rapl_domain_of(const std::string& own_name) {
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

/// Zones of /sys/class/powercap (Intel and AMD). This and those below add the meters of their kind that can be read,
/// and what they looked for.
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
        name, rapl_domain_of(first_line(zone / "name")),
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

/// ACPI's power meter sees the host. AMD's counters of sockets are packages, those of cores are in them. Whatever else
/// has a power (graphics cards, rails of a board) is no sum of a host.
core::PowerDomain hwmon_domain_of(const std::string& chip, const std::string& label) {
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
  core::PowerDomain domain = hwmon_domain_of(chip_name, label);
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

/// power*_input, power*_average and energy*_input of /sys/class/hwmon.
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

constexpr double patience_s = 10;  // a busy management controller takes about 1 s

/// The number behind "Instantaneous power reading:"; nothing if the text has none, or says that it is off.
std::optional<double> watts_in(const std::string& text) {
  std::optional<double> watts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    std::string word;
    words >> word;
    if (line.find("Instantaneous power reading") != std::string::npos) {
      double value = 0;
      if (core::parse_double(word, value)) watts = value;
    }
    if (line.find("Power reading state is") != std::string::npos && word == "deactivated") return std::nullopt;
  }
  return watts;
}

struct Answer {
  std::optional<double> watts;
  std::string complaint;
};

Answer ask() {
  core::Command command;
  command.program = "ipmitool";
  command.arguments = {"dcmi", "power", "reading"};
  command.timeout_s = patience_s;
  try {
    const core::CommandResult result = core::run(command);
    Answer answer;
    if (result.status == 0 && !result.timed_out) answer.watts = watts_in(result.output);
    if (answer.watts) return answer;
    std::istringstream lines(result.output);
    answer.complaint = core::telling_line(lines);
    if (answer.complaint.empty()) answer.complaint = core::how_it_ended(command, result);
    return answer;
  } catch (const core::ExternalError& error) {
    return {std::nullopt, error.what()};
  }
}

/// "/dev/ipmi0 is absent", "/dev/ipmi0: Permission denied"; empty: it is there and may be used.
std::string device_trouble(const std::filesystem::path& root) {
  std::string trouble = "/dev/ipmi0 is absent (modprobe ipmi_devintf ipmi_si)";
  for (const char* name : {"dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"}) {
    const std::filesystem::path device = root / name;
    if (std::error_code error; !std::filesystem::exists(device, error)) continue;
    if (::access(device.c_str(), R_OK | W_OK) == 0) return "";
    trouble = "/" + std::string(name) + ": " + std::strerror(errno) + " (it belongs to root)";
  }
  return trouble;
}

/// `ipmitool dcmi power reading`.
void find_ipmi(const std::filesystem::path& root, PowerMeters& meters) {
  std::string found = device_trouble(root);
  if (core::find_program("ipmitool").empty())
    found += (found.empty() ? "" : "; ") + std::string("ipmitool is not installed");
  if (found.empty()) {
    const Answer answer = ask();
    found = answer.watts ? "answers" : "does not answer: " + answer.complaint;
    if (answer.watts) meters.meters.push_back(gauge_meter("dcmi", core::PowerDomain::host, [] { return ask().watts; }));
  }
  meters.looked_for.push_back({MeterKind::ipmi, "IPMI (ipmitool dcmi power reading)", found});
}

/// A counter of one moment: its file and `freshness` belong together if freshness is the same before and after.
std::optional<double> fresh_number(const fs::path& folder, const fs::path& file) {
  constexpr int attempts = 5;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto before = first_number(folder / "freshness");
    const auto value = first_number(file);
    if (!value || !before || before == first_number(folder / "freshness")) return value;
  }
  return first_number(file);
}

core::PowerDomain cray_domain_of(const std::string& part) {
  if (part.empty()) return core::PowerDomain::host;
  if (part == "cpu_") return core::PowerDomain::package;
  if (part == "memory_") return core::PowerDomain::dram;
  return core::PowerDomain::other;
}

/// "node" for energy, "cpu" for cpu_energy.
std::string sensor_of(const std::string& part) {
  return "cray " + (part.empty() ? "node" : part.substr(0, part.size() - 1));
}

/// /sys/cray/pm_counters.
void find_cray(const fs::path& root, PowerMeters& meters) {
  const fs::path folder = root / "sys/cray/pm_counters";
  std::size_t counters = 0;
  std::string reason;
  for (const fs::path& file : entries(folder, "")) {
    const std::string name = file.filename();
    const std::size_t at = name.rfind("energy");
    if (at == std::string::npos || at + 6 != name.size()) continue;
    const std::string part = name.substr(0, at);
    const std::string why = why_unreadable(file);
    if (!why.empty()) {
      reason = name + ": " + why;
      continue;
    }
    ++counters;
    std::optional<double> cap = part.empty() ? first_number(folder / "power_cap") : std::nullopt;
    if (cap && !(*cap > 0)) cap.reset();  // 0: none
    meters.meters.push_back(counter_meter(
        sensor_of(part), cray_domain_of(part), [folder, file] { return fresh_number(folder, file); }, 0, cap));
  }
  // Nodes without a counter of energy: their power of the moment.
  if (counters == 0 && first_number(folder / "power")) {
    ++counters;
    const fs::path file = folder / "power";
    meters.meters.push_back(
        gauge_meter("cray node", core::PowerDomain::host, [folder, file] { return fresh_number(folder, file); }));
  }
  std::string found = counters == 0 ? "none" : std::to_string(counters) + " counters";
  if (!reason.empty()) found += "; unreadable: " + reason;
  meters.looked_for.push_back({MeterKind::cray, "Cray (/sys/cray/pm_counters)", found});
}

}  // namespace

PowerMeters find_power_meters(const std::vector<MeterKind>& kinds, const std::filesystem::path& root) {
  PowerMeters meters;
  for (const MeterKind kind : kinds) {
    if (kind == MeterKind::rapl) find_rapl(root, meters);
    if (kind == MeterKind::hwmon) find_hwmon_power(root, meters);
    if (kind == MeterKind::ipmi) find_ipmi(root, meters);
    if (kind == MeterKind::cray) find_cray(root, meters);
  }
  return meters;
}

}  // namespace hplcast::calibration
