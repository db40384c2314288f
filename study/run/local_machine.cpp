#include "study/run/local_machine.hpp"

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::study {

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
    const bool is_known = fs::exists(topology, ignored);
    cores.emplace(is_known ? integer_in(topology / "physical_package_id") : -1,
                  is_known ? integer_in(topology / "core_id") : cpu);
  }
  return cores.empty() ? 1 : static_cast<int>(cores.size());
}

/// Parent of a process, from /proc/PID/stat: "pid (name) state ppid ...", where the name may hold anything.
int parent_of(const fs::path& process) {
  const std::string text = core::text_if_any(process / "stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 0;
  int parent = 0;
  fields >> state >> parent;
  return parent;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Children of a process, from a walk over all processes.
std::vector<int> children_by_walk(int pid) {
  std::vector<int> children;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const int child = std::atoi(entry->path().filename().c_str());
    if (child > 0 && parent_of(entry->path()) == pid) children.push_back(child);
  }
  return children;
}

/// Children of a process: what the kernel lists for its threads, or (kernels without that list) found by a walk.
std::vector<int> children_of(int pid) {
  std::vector<int> children;
  std::error_code error;
  const fs::path threads = "/proc/" + std::to_string(pid) + "/task";
  for (fs::directory_iterator thread(threads, error), end; !error && thread != end; thread.increment(error)) {
    std::ifstream in(thread->path() / "children");
    if (!in) return fs::exists(threads, error) ? children_by_walk(pid) : children;
    for (int child = 0; in >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace

LocalMachine local_machine() {
  LocalMachine machine;
  machine.cores = usable_cores();
  machine.memory_bytes = core::kib_field("/proc/meminfo", "MemTotal:");
  machine.available_bytes = core::kib_field("/proc/meminfo", "MemAvailable:");
  machine.max_map_count = integer_in("/proc/sys/vm/max_map_count");
  return machine;
}

double tree_pss_bytes(int pid) {
  double total = 0;
  std::vector<int> todo = {pid};
  while (!todo.empty()) {
    const int process = todo.back();
    todo.pop_back();
    total += core::kib_field("/proc/" + std::to_string(process) + "/smaps_rollup", "Pss:");
    core::append(todo, children_of(process));
  }
  return total;
}

void PeakMemory::sample(int pid) {
  constexpr double short_s = 1, share_of_short = 0.03, share_of_long = 0.01;
  const double before_s = steady_seconds();
  if (before_s < next_sample_s_) return;
  if (!begin_s_) begin_s_ = before_s;
  peak_bytes_ = std::max(peak_bytes_, tree_pss_bytes(pid));
  const double after_s = steady_seconds();
  const double cost_s = after_s - before_s;
  // One sample that the system has interrupted is no reason to look away for seconds.
  const double usual_s = std::min(cost_s, cost_before_s_);
  cost_before_s_ = cost_s;
  next_sample_s_ = after_s + usual_s / (after_s - *begin_s_ < short_s ? share_of_short : share_of_long);
}

}  // namespace hplcast::study
