#include "hplcast/calibration/machine.hpp"

#include <pwd.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>
#include <sstream>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/surroundings.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

namespace fs = std::filesystem;

void describe_memory(const fs::path& root, core::MachineDescription& machine) {
  machine.memory_bytes = core::kib_field(root / "proc/meminfo", "MemTotal:");
  machine.memory_available_bytes = core::kib_field(root / "proc/meminfo", "MemAvailable:");
  // A control group may allow less than the machine has.
  const std::optional<double> group_limit = first_number(root / "sys/fs/cgroup/memory.max");
  const std::optional<double> group_used = first_number(root / "sys/fs/cgroup/memory.current");
  if (group_limit) {
    machine.memory_bytes = std::min(machine.memory_bytes, *group_limit);
    machine.memory_available_bytes =
        std::min(machine.memory_available_bytes, std::max(0.0, *group_limit - group_used.value_or(0)));
  }
  struct statvfs shm {};
  if (statvfs((root / "dev/shm").c_str(), &shm) == 0)
    machine.shared_memory_free_bytes = static_cast<double>(shm.f_bavail) * static_cast<double>(shm.f_frsize);
}

void describe_frequency(const fs::path& root, core::MachineDescription& machine) {
  constexpr double kilohertz = 1e3;
  const fs::path limits = root / "sys/devices/system/cpu/cpu0/cpufreq";
  if (const auto low = first_number(limits / "cpuinfo_min_freq")) machine.min_frequency_hz = *low * kilohertz;
  if (const auto high = first_number(limits / "cpuinfo_max_freq")) machine.max_frequency_hz = *high * kilohertz;
  machine.clock_source = first_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  machine.clock_resolution_s = static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

void describe_settings(const fs::path& root, core::MachineDescription& machine) {
  Settings settings = machine.settings = read_settings(root);
  machine.governor = settings["governor"];
  machine.transparent_hugepages = settings["huge_pages"];
  if (const std::string turbo = settings["turbo"]; !turbo.empty()) machine.turbo = turbo == "on";
}

/// Share of the processor time since boot that went to other virtual machines.
std::optional<double> steal_share(const fs::path& root) {
  const StealTicks ticks = steal_ticks(first_line(root / "proc/stat"));
  if (!ticks.stolen || ticks.all <= 0) return std::nullopt;
  return *ticks.stolen / ticks.all;
}

/// Names of the people (not of the system's own users) other than us who have processes: the line "Uid:" of
/// /proc/PID/status.
std::vector<std::string> find_other_users(const fs::path& root) {
  constexpr unsigned first_person = 1000, nobody = 65534;
  std::set<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "proc", ignored)) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "status");
    for (std::string word; in >> word;) {
      unsigned user = 0;
      if (word != "Uid:" || !(in >> user)) continue;
      if (user < first_person || user == nobody || user == ::geteuid()) break;
      const passwd* known = ::getpwuid(user);
      names.insert(known == nullptr ? std::to_string(user) : known->pw_name);
      break;
    }
  }
  return {names.begin(), names.end()};
}

void describe_load(const fs::path& root, core::MachineDescription& machine) {
  machine.load_1min = first_number(root / "proc/loadavg").value_or(0);
  if (machine.load_1min >= core::MachineDescription::idle_load) machine.load_now = runnable_of_others(root);
  machine.other_users = find_other_users(root);
  machine.steal = steal_share(root);
  std::istringstream quota(first_line(root / "sys/fs/cgroup/cpu.max"));
  double allowed = 0, period = 0;
  if (quota >> allowed >> period && period > 0) machine.cpu_quota = allowed / period;
  const std::string flags = of_cpuinfo(root, "flags");
  if (!flags.empty()) machine.virtual_machine = (" " + flags + " ").find(" hypervisor ") != std::string::npos;
}

std::string firmware_of(const fs::path& root) {
  const fs::path folder = root / "sys/class/dmi/id";
  const std::string version = first_line(folder / "bios_version"), date = first_line(folder / "bios_date");
  return version + (version.empty() || date.empty() ? "" : " ") + date;
}

std::optional<double> soft_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

void describe_limits(const fs::path& root, core::MachineDescription& machine) {
  machine.max_map_count = first_number(root / "proc/sys/vm/max_map_count");
  if (const auto mode = first_number(root / "proc/sys/vm/overcommit_memory"))
    machine.overcommit_memory = static_cast<int>(*mode);
  machine.stack_bytes = soft_limit(RLIMIT_STACK);
  machine.address_space_bytes = soft_limit(RLIMIT_AS);
  machine.locked_memory_bytes = soft_limit(RLIMIT_MEMLOCK);
}

}  // namespace

double available_memory_bytes(const fs::path& root) {
  core::MachineDescription machine;
  describe_memory(root, machine);
  return machine.memory_available_bytes;
}

core::MachineDescription describe_machine(const Topology& topology, const fs::path& root) {
  core::MachineDescription machine;
  utsname names{};
  if (uname(&names) == 0) {
    machine.host = names.nodename;
    machine.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  machine.firmware = firmware_of(root);
  topology.describe(machine);
  describe_memory(root, machine);
  describe_frequency(root, machine);
  describe_load(root, machine);
  describe_limits(root, machine);
  describe_settings(root, machine);
  return machine;
}

}  // namespace hplcast::calibration
