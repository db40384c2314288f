#include "hplcast/study/local_machine.hpp"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "proc_files.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

long integer_in(const fs::path& file) {
  std::ifstream in(file);
  long value = 0;
  return in >> value ? value : 0;
}

/// Two hardware threads of one core share its floating-point units: HPL gains nothing from the second.
int usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::pair<long, long>> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) continue;
    const fs::path topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    std::error_code ignored;
    if (fs::exists(topology, ignored)) {
      cores.emplace(integer_in(topology / "physical_package_id"), integer_in(topology / "core_id"));
    } else {
      cores.emplace(-1, cpu);
    }
  }
  return cores.empty() ? 1 : static_cast<int>(cores.size());
}

}  // namespace

LocalMachine local_machine() {
  LocalMachine machine;
  machine.cores = usable_cores();
  machine.memory_bytes = kib_field("/proc/meminfo", "MemTotal:");
  machine.available_bytes = kib_field("/proc/meminfo", "MemAvailable:");
  machine.max_map_count = integer_in("/proc/sys/vm/max_map_count");
  return machine;
}

}  // namespace hplcast::study
