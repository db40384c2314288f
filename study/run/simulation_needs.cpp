#include "hplcast/study/resolve.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>

#include "hplcast/core/files.hpp"
#include "hplcast/core/text.hpp"
#include "study/run/local_machine.hpp"

namespace hplcast::study {

namespace {

constexpr double mib = 1024.0 * 1024.0;

// One core of a 2-core virtual machine of Zen 5, SimGrid 3.32 (docs/measurements/scaling.md#the-estimates-of-predict):
// by thousands of instructions as they were counted before there were fewer, as N = 50,000 and 100,000 on 32 x 32 take.
constexpr double s_per_thousand = 0.1e-6;
constexpr double start_s_per_rank = 0.1e-3;
// Ranks that do not fit into caches wait for memory: 1.4 times as long for 4096, 2.5 for 16,384, 2.8 for 20,480 ranks,
// by the time per panel and rank relative to that of 1024 (docs/measurements/many-ranks.md).
constexpr double cached_ranks = 2048, growth_beyond = 0.45;
constexpr double wall_s_per_message = 10 * s_per_thousand;
constexpr double wall_s_per_rolled_message = 17 * s_per_thousand;
constexpr double wall_s_per_panel_and_rank = 47 * s_per_thousand;  // mostly some ten probes for the next panel
constexpr double wall_s_per_noted_exchange = 5 * s_per_thousand;   // fast mode: a rank's part of a column's exchange
constexpr double base_bytes = 40 * mib;
constexpr double bytes_per_rank = 0.05 * mib;
constexpr double bytes_per_rank_and_column = 10;  // of a panel: pivots, exchanges that are noted
constexpr double stack_bytes_per_rank = 8 * mib;  // contexts/stack-size of SimGrid
constexpr long base_maps = 1000;
constexpr long maps_per_rank = 2;  // stack, guard page: 8,385 maps were counted for 4096 ranks, 33,754 for 16,384

/// Messages of an exchange of process rows: of pairs among a power of two of them, and three for each of the others.
double exchange_messages(int rows) {
  const int steps = std::ilogb(rows), paired = 1 << steps;
  return 1.0 * paired * steps + 3.0 * (rows - paired);
}

/// Messages of all ranks, for one panel in the mean: the long swap, which mix takes while there are more columns than
/// the threshold, rolls rows round the process rows.
double rolled_per_panel(const core::HplParameters& p) {
  constexpr int long_swap = 1, mix = 2;
  const double rolled = static_cast<double>(p.Q) * p.P * (p.P - 1);
  if (p.SWAP != mix) return p.SWAP == long_swap ? rolled : 0;
  return rolled * std::clamp(1 - static_cast<double>(p.swap_threshold) * p.Q / static_cast<double>(p.N), 0.0, 1.0);
}

/// Messages that all ranks send to broadcast one panel. Long broadcasts scatter a panel and roll its parts round the
/// process row, longM without the next process column.
double broadcast_per_panel(const core::HplParameters& p) {
  constexpr int blong = 4, blong_modified = 5;
  const int rolling = p.BCAST == blong ? p.Q : p.BCAST == blong_modified ? std::max(p.Q - 2, 0) : 0;
  return static_cast<double>(p.P) * (p.Q - 1) * (1 + rolling);
}

/// Pages so large that a panel takes a few maps, and not larger: one page is really there.
double block_size(double panel_bytes) {
  double block = mib;
  while (block < 16 * mib && block * 2 < panel_bytes) block *= 2;
  return block;
}

std::string number(double value, const char* unit) {
  return core::printed("%.*f %s", value < 10 ? 1 : 0, value, unit);
}

std::string bytes_text(double bytes) {
  constexpr double gib = 1024 * mib;
  return bytes < gib ? number(bytes / mib, "MiB") : number(bytes / gib, "GiB");
}

std::string time_text(double seconds) {
  const double minutes = seconds / 60;
  return seconds < 120 ? number(seconds, "s") : minutes < 120 ? number(minutes, "min") : number(minutes / 60, "h");
}

double limit(int resource) {
  rlimit values{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &values) != 0 || values.rlim_cur == RLIM_INFINITY) return 0;
  return static_cast<double>(values.rlim_cur);
}

/// Bytes left of the commit limit where the kernel never overcommits; 0: no limit.
double commit_left() {
  int mode = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> mode;
  constexpr int never_overcommit = 2;
  if (mode != never_overcommit) return 0;
  const auto bytes = [](const char* key) { return core::kib_field("/proc/meminfo", key); };
  return std::max(1.0, bytes("CommitLimit:") - bytes("Committed_AS:"));
}

}  // namespace

SimulationNeeds SimulationNeeds::of_all_panels(const core::HplParameters& p, SimulationMode mode) {
  const bool fast = mode == SimulationMode::fast;
  const double N = static_cast<double>(p.N);
  const double ranks = static_cast<double>(p.P) * p.Q;
  const double panels = std::ceil(N / p.NB);
  const double pivot_messages = N * exchange_messages(p.P);
  // Panels by which a process column updates columns, in the mean. By others, at the end of a run or all over one of
  // few panels, it has none left to update: it swaps no rows, and hardly probes.
  const double most = std::min<double>(panels, p.Q), updates = most * (panels - (most - 1) / 2) / p.Q;
  const double spread_or_exchanged = updates * p.Q * exchange_messages(p.P), rolled = updates * rolled_per_panel(p);
  const double other_messages = panels * broadcast_per_panel(p) + spread_or_exchanged + rolled;
  const double panel_bytes = 8.0 * p.NB * (N / p.P + p.NB);
  const double swap_bytes = 8.0 * p.NB * (N / p.Q + p.NB);
  // Fast mode makes real messages (smpi-models) of 4 exchanges of each part of 32 of a panel, of at most 8 parts, in
  // every fourth panel.
  const double real_share = fast ? std::min(4.0 / 32, 4.0 * 8 / p.NB) / 4 : 1;

  SimulationNeeds needs;
  needs.simulated_messages = other_messages + real_share * pivot_messages;
  // Six traces of 2,000 to 4,000 columns: 2.99 to 3.08 MPI calls per message, 7.0 to 8.1 kernels per column
  // and process row, 126 to 130 bytes per event.
  needs.trace_bytes = 128 * (3 * (other_messages + pivot_messages) + 7.5 * N * p.P);
  const double slower = std::pow(std::max(1.0, ranks / cached_ranks), growth_beyond);
  needs.wall_s =
      start_s_per_rank * ranks +
      slower * (wall_s_per_message * (needs.simulated_messages - rolled) + wall_s_per_rolled_message * rolled +
                wall_s_per_panel_and_rank * updates * ranks + (fast ? wall_s_per_noted_exchange * N * p.P : 0));
  needs.memory_bytes = base_bytes + (bytes_per_rank + bytes_per_rank_and_column * p.NB) * ranks;
  needs.block_bytes = block_size(panel_bytes);
  const double panels_alive = (p.DEPTH + 1.0) * ranks;
  needs.memory_maps = base_maps + static_cast<long>(maps_per_rank * ranks);
  // The matrix of the largest rank, once for all ranks (shared_matrix.c).
  const double matrix_bytes = 8 * (N / p.P + p.NB) * (N / p.Q + p.NB);
  needs.address_bytes =
      base_bytes + matrix_bytes + stack_bytes_per_rank * ranks + panels_alive * (2 * panel_bytes + swap_bytes);
  return needs;
}

SimulationLimits simulation_limits(const fs::path& folder) {
  const LocalMachine machine = local_machine();
  SimulationLimits limits;
  limits.available_bytes = machine.available_bytes;
  limits.address_bytes = limit(RLIMIT_AS);
  limits.stack_bytes = limit(RLIMIT_STACK);
  limits.commit_bytes = commit_left();
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (!error) limits.disk_bytes = static_cast<double>(space.available);
  return limits;
}

MemorySettings MemorySettings::make(const SimulationNeeds& needs, long max_map_count) {
  MemorySettings settings;
  const bool guard_pages = max_map_count <= 0 || needs.memory_maps <= max_map_count;
  if (!guard_pages) settings.options = {"--cfg=contexts/guard-size:0", "--cfg=contexts/stack-size:256"};
  // The many small objects of a simulation are kept for reuse, and lie in huge pages. A fifth of the time.
  // Stacks without guard pages are to be maps of their own, of which only the used part is memory.
  settings.glibc_tunables = std::string("glibc.malloc.tcache_count=60000:glibc.malloc.") +
                            (guard_pages ? "hugetlb=1" : "mmap_threshold=131072");
  settings.options.push_back("--cfg=smpi/shared-malloc-blocksize:" +
                             std::to_string(static_cast<long>(needs.block_bytes)));
  return settings;
}

std::vector<std::string> shortages(const SimulationNeeds& needs, const SimulationLimits& limits) {
  std::vector<std::string> found;
  const auto look = [&](const char* what, double needed, double there, const std::string& remedy) {
    if (there <= 0 || needed <= there) return;
    found.push_back(std::string(what) + ": needs about " + bytes_text(needed) + ", there is " + bytes_text(there) +
                    "; " + remedy);
  };
  look("memory", needs.memory_bytes, limits.available_bytes, "end other programs, or use a machine with more memory");
  look("address space", needs.address_bytes, limits.address_bytes, "raise the limit: ulimit -v unlimited");
  look("memory that the kernel may promise", needs.address_bytes, limits.commit_bytes,
       "most of it is never used: sysctl -w vm.overcommit_memory=0");
  // SimGrid's own thread, which also parses the platform; 1 MiB has always been enough.
  look("stack", mib, limits.stack_bytes, "raise the limit: ulimit -s 8192");
  constexpr double log_and_results = 16 * mib;
  look("disk for temporary files", log_and_results, limits.disk_bytes, "free some, or set TMPDIR to another folder");
  return found;
}

std::string to_string(const SimulationNeeds& needs) {
  const std::string most = needs.most_wall_s > needs.wall_s ? ", at most " + time_text(needs.most_wall_s) : "";
  const double messages = needs.simulated_messages;
  const std::string count = messages < 1e6 ? number(messages / 1e3, "thousand") : number(messages / 1e6, "million");
  return "about " + time_text(needs.wall_s) + most + ", " + bytes_text(needs.memory_bytes) + " of memory, " + count +
         " messages";
}

}  // namespace hplcast::study
