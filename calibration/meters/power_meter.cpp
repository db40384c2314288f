#include "hplcast/calibration/power_meter.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

/// A counter of energy that has not moved for so long stands still: the slowest that are known count ten times per
/// second (Cray), and the least that a running host draws is more than a count.
constexpr double still_s = 3;
/// More than any host draws: a counter that goes back was not wrapped but reset.
constexpr double most_w = 20000;

/// The number in a file, given there in millionths.
std::optional<double> micro_number(const fs::path& file) {
  const auto value = first_number(file);
  return value ? std::optional<double>(*value * 1e-6) : std::nullopt;
}

/// The files of a kind of meter.
struct Tally {
  std::size_t files = 0, unreadable = 0;
  std::string reason;  ///< of the last one that is unreadable

  /// Whether the next file can be read: nothing says why not.
  bool counts(const std::string& why_not) {
    ++files;
    if (why_not.empty()) return true;
    ++unreadable;
    reason = why_not;
    return false;
  }
  std::string text(const std::string& noun) const {
    return (files == 0 ? "none" : std::to_string(files) + " " + noun) +
           (unreadable > 0 ? ", " + std::to_string(unreadable) + " unreadable: " + reason : "");
  }
};

/// "package-0" for intel-rapl:0, "package-0 dram" for its part intel-rapl:0:1.
std::string rapl_name(const fs::path& zone) {
  const std::string file = zone.filename();
  std::string own = first_line(zone / "name");
  const std::size_t last = file.rfind(':');
  if (last == file.find(':')) return own;
  return first_line(zone.parent_path() / file.substr(0, last) / "name") + " " + own;
}

/// Domain of a RAPL zone, by its own name: package-N, dram, psys, core, uncore.
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
    const auto limit_w = micro_number(file);
    if (limit_w && *limit_w > 0 && (!least || *limit_w < *least)) least = limit_w;
  }
  return least;
}

/// Zones of /sys/class/powercap (Intel and AMD). This and those below add the meters of their kind that can be read,
/// and what they looked for.
void find_rapl(const fs::path& root, PowerMeters& meters) {
  // The class lists zones of all drivers; intel-rapl-mmio sees the same packages once more.
  Tally zones;
  std::set<std::string> names;
  for (const fs::path& zone : entries(root / "sys/class/powercap", "intel-rapl:")) {
    const fs::path energy = zone / "energy_uj";
    std::string why = why_unreadable(energy);
    const auto range_j = micro_number(zone / "max_energy_range_uj");
    if (why.empty() && !range_j) why = "its max_energy_range_uj cannot be read";
    if (!zones.counts(why)) continue;
    std::string name = rapl_name(zone);
    if (!names.insert(name).second) name += " " + zone.filename().string();
    meters.meters.push_back(PowerMeter::counter(
        name, rapl_domain_of(first_line(zone / "name")), [energy] { return micro_number(energy); }, *range_j,
        limit_of(zone)));
  }
  std::string found = zones.text("zones");
  if (zones.reason == std::strerror(EACCES))
    found +=
        " (energy_uj belongs to root, mode 0400, since 2020; root may allow it with `chmod a+r "
        "/sys/class/powercap/intel-rapl:*/energy_uj`)";
  meters.looked_for.push_back({"RAPL (/sys/class/powercap/intel-rapl:*/energy_uj)", found});
}

/// ACPI's power meter sees the host. AMD's counters of sockets are packages, those of cores are in them. Whatever else
/// has a power (graphics cards, rails of a board) is no sum of a host.
core::PowerDomain hwmon_domain_of(const std::string& chip, const std::string& label) {
  if (chip == "power_meter" || chip == "acpi_power_meter") return core::PowerDomain::host;
  if (chip == "amd_energy")
    return label.rfind("Esocket", 0) == 0 ? core::PowerDomain::package : core::PowerDomain::part;
  return core::PowerDomain::other;
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
  const auto value = [file] { return micro_number(file); };
  // Counters of hwmon have 64 bits.
  meters.meters.push_back(item.rfind("energy", 0) == 0 ? PowerMeter::counter(sensor, domain, value, 0)
                                                       : PowerMeter::gauge(sensor, domain, value));
}

/// power*_input, power*_average and energy*_input of /sys/class/hwmon.
void find_hwmon_power(const fs::path& root, PowerMeters& meters) {
  // RAPL sees the same packages: they must not be added twice.
  const bool packages_known = std::any_of(meters.meters.begin(), meters.meters.end(), [](const PowerMeter& meter) {
    return meter.domain() == core::PowerDomain::package;
  });
  Tally inputs;
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
        if (inputs.counts(why_unreadable(file))) add_input(chip, folder, file, packages_known, meters);
      }
    }
  }
  meters.looked_for.push_back({"hwmon (/sys/class/hwmon/hwmon*/power*_input, energy*_input)", inputs.text("inputs")});
}

constexpr double reply_patience_s = 10;  // a busy management controller takes about 1 s

/// The number behind "Instantaneous power reading:"; nothing if the text has none, or says that it is off.
std::optional<double> watts_in(const std::string& text) {
  std::optional<double> watts;
  for (const std::string& line : core::split(text, '\n')) {
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

/// Power of the host in W; nothing with a `complaint`.
std::optional<double> ask_ipmi(std::string& complaint) {
  core::Command command{"ipmitool", {"dcmi", "power", "reading"}};
  command.timeout_s = reply_patience_s;
  try {
    const core::CommandResult result = core::run(command);
    if (const auto watts = watts_in(result.output); watts && result.status == 0 && !result.timed_out) return watts;
    complaint = core::telling_line(core::TextStream(result.output));
    if (complaint.empty()) complaint = core::how_it_ended(command, result);
  } catch (const core::ExternalError& error) {
    complaint = error.what();
  }
  return std::nullopt;
}

/// "/dev/ipmi0 is absent", "/dev/ipmi0: Permission denied"; empty: it is there and may be used.
std::string device_trouble(const fs::path& root) {
  std::string trouble = "/dev/ipmi0 is absent (modprobe ipmi_devintf ipmi_si)";
  for (const char* name : {"dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"}) {
    const fs::path device = root / name;
    if (std::error_code error; !fs::exists(device, error)) continue;
    if (::access(device.c_str(), R_OK | W_OK) == 0) return "";
    trouble = "/" + std::string(name) + ": " + std::strerror(errno) + " (it belongs to root)";
  }
  return trouble;
}

/// `ipmitool dcmi power reading`.
void find_ipmi(const fs::path& root, PowerMeters& meters) {
  std::string found = device_trouble(root);
  if (core::find_program("ipmitool").empty())
    found += (found.empty() ? "" : "; ") + std::string("ipmitool is not installed");
  if (found.empty()) {
    std::string complaint;
    const bool answers = ask_ipmi(complaint).has_value();
    found = answers ? "answers" : "does not answer: " + complaint;
    if (answers)
      meters.meters.push_back(PowerMeter::gauge("dcmi", core::PowerDomain::host, [] {
        std::string ignored;
        return ask_ipmi(ignored);
      }));
  }
  meters.looked_for.push_back({"IPMI (ipmitool dcmi power reading)", found});
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

/// /sys/cray/pm_counters.
void find_cray(const fs::path& root, PowerMeters& meters) {
  const fs::path folder = root / "sys/cray/pm_counters";
  Tally counters;
  for (const fs::path& file : entries(folder, "")) {
    const std::string name = file.filename();
    const std::size_t at = name.rfind("energy");
    if (at == std::string::npos || at + 6 != name.size()) continue;
    const std::string part = name.substr(0, at);
    const std::string why = why_unreadable(file);
    if (!counters.counts(why.empty() ? why : name + ": " + why)) continue;
    std::optional<double> cap = part.empty() ? first_number(folder / "power_cap") : std::nullopt;
    if (cap && !(*cap > 0)) cap.reset();                                                 // 0: none
    const std::string sensor = part.empty() ? "node" : part.substr(0, part.size() - 1);  // "cpu" for cpu_energy
    meters.meters.push_back(PowerMeter::counter(
        "cray " + sensor, cray_domain_of(part), [folder, file] { return fresh_number(folder, file); }, 0, cap));
  }
  // Nodes without a counter of energy: their power of the moment.
  if (counters.files == counters.unreadable && first_number(folder / "power")) {
    ++counters.files;
    const fs::path file = folder / "power";
    meters.meters.push_back(
        PowerMeter::gauge("cray node", core::PowerDomain::host, [folder, file] { return fresh_number(folder, file); }));
  }
  meters.looked_for.push_back({"Cray (/sys/cray/pm_counters)", counters.text("counters")});
}

}  // namespace

PowerMeter PowerMeter::counter(std::string name, core::PowerDomain domain, Value energy_j, double range_j,
                               std::optional<double> limit_w) {
  PowerMeter meter(std::move(name), domain, std::move(energy_j));
  meter.range_j_ = range_j;
  meter.limit_w_ = limit_w;
  return meter;
}

std::nullopt_t PowerMeter::trouble(const std::string& what) {
  if (std::find(troubles_.begin(), troubles_.end(), what) == troubles_.end()) troubles_.push_back(what);
  return std::nullopt;
}

std::optional<PowerReading> PowerMeter::read(double time_s) {
  const std::optional<double> value = value_();
  if (!value) return std::exchange(last_, std::nullopt) ? trouble("vanished while it was read") : std::nullopt;
  if (range_j_ && last_) return since_last(*value, time_s);
  last_ = value;
  last_s_ = time_s;
  if (range_j_) return std::nullopt;
  if (*value <= 0 || *value > most_w) return trouble(core::printed("said %g W, which is no power of a host", *value));
  return PowerReading{*value, 0};
}

std::optional<PowerReading> PowerMeter::since_last(double energy_j, double time_s) {
  const double past_s = time_s - last_s_;
  if (past_s <= 0) return std::nullopt;
  if (energy_j == *last_) {
    if (past_s < still_s) return std::nullopt;
    return trouble(core::printed("its counter stands still, for %.0f s and more", still_s));
  }
  const double used_j = energy_j > *last_ ? energy_j - *last_ : energy_j + *range_j_ - *last_;
  last_ = energy_j;
  last_s_ = time_s;
  if (used_j <= 0 || used_j > most_w * past_s)
    return trouble(core::printed("its counter jumped by %.3g J, which is no power of a host: it was reset", used_j));
  return PowerReading{used_j / past_s, past_s};
}

PowerMeters find_power_meters(const std::vector<MeterKind>& kinds, const fs::path& root) {
  PowerMeters meters;
  for (const MeterKind kind : kinds) {
    if (kind == MeterKind::rapl) find_rapl(root, meters);
    if (kind == MeterKind::hwmon) find_hwmon_power(root, meters);
    if (kind == MeterKind::ipmi) find_ipmi(root, meters);
    if (kind == MeterKind::cray) find_cray(root, meters);
  }
  return meters;
}

std::vector<std::string> require_host_power(const PowerMeters& meters, const std::string& host) {
  std::vector<core::SeenSensor> seen;
  for (const PowerMeter& meter : meters.meters) seen.push_back({meter.name(), meter.domain(), 1});
  std::vector<std::string> sensors = core::sensors_of_host(seen);
  if (!sensors.empty()) return sensors;
  std::string looked_for;
  for (const LookedFor& one : meters.looked_for) looked_for += "\n  " + one.what + ": " + one.found;
  throw core::InputError(host + ": no sensor that tells the power of the host can be read; looked for" + looked_for +
                         "\n  hint: a wattmeter's CSV needs no sensor (hplcast-measure-power --meter); "
                         "docs/use/power-measuring.md has the permissions");
}

}  // namespace hplcast::calibration
