#include "power_finders.hpp"
#include "sysfs.hpp"

namespace hplcast::calibration {

namespace fs = std::filesystem;

namespace {

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

core::PowerDomain domain_of(const std::string& part) {
  if (part.empty()) return core::PowerDomain::host;
  if (part == "cpu_") return core::PowerDomain::package;
  if (part == "memory_") return core::PowerDomain::dram;
  return core::PowerDomain::other;
}

/// "node" for energy, "cpu" for cpu_energy.
std::string sensor_of(const std::string& part) {
  return "cray " + (part.empty() ? "node" : part.substr(0, part.size() - 1));
}

}  // namespace

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
        sensor_of(part), domain_of(part), [folder, file] { return fresh_number(folder, file); }, 0, cap));
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

}  // namespace hplcast::calibration
