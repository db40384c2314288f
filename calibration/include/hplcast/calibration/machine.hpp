#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hplcast/core/campaign.hpp"

struct hwloc_topology;  // hides hwloc.h

namespace hplcast::calibration {

/// A core of this host, in hwloc's logical order: neighbours share caches.
struct CorePlace {
  int cpu = 0;   ///< CPU (package, socket) from 0
  int core = 0;  ///< core of the host from 0
  int pu = 0;    ///< first hardware thread, numbered as the operating system does
  friend bool operator==(const CorePlace& a, const CorePlace& b) { return a.core == b.core; }
};

/// The processors of this host as hwloc sees them, and binding to them.
class Topology {
 public:
  /// This machine's topology. @throws core::Error (external_failure) if hwloc cannot tell.
  static Topology of_this_machine();

  /// Cores that this process may use (cgroups are respected, the present binding is not).
  const std::vector<CorePlace>& cores() const noexcept { return cores_; }
  int hardware_threads() const;
  /// Cores below each l3 (cache), numa (domain), socket, or of the host: threads of a rank that has one of them for
  /// itself.
  /// @throws core::InputError for another word, a machine without it, or with different numbers of cores in them.
  int cores_per(const std::string& place) const;
  /// Sets what hwloc knows: CPUs and their model, cores, hardware threads, NUMA nodes, caches.
  void describe(core::MachineDescription& machine) const;

  /// Cores that the process is bound to now; all of cores() if it is not bound.
  std::vector<CorePlace> bound_cores() const;
  /// Binds all threads of this process to these cores. @throws core::Error (external_failure) if the system refuses.
  void bind(const std::vector<CorePlace>& places) const;
  /// The topology in hwloc's XML, for archives.
  std::string xml() const;

 private:
  explicit Topology(std::shared_ptr<hwloc_topology> handle);

  std::shared_ptr<hwloc_topology> handle_;
  std::vector<CorePlace> cores_;
};

/// The cores for a process: those that it is bound to if they are as many as its threads (the launcher has decided),
/// else the next `threads` cores after those of the `local_rank` processes before it.
/// @throws core::InputError if the host has too few cores.
std::vector<CorePlace> choose_cores(const std::vector<CorePlace>& cores, const std::vector<CorePlace>& bound,
                                    int local_rank, int threads);

/// Cores from "0-3,8" (as hplcast and hwloc number them, from 0), or "all". @throws core::UsageError for another text,
/// or a core that is there twice; core::InputError for one that this machine does not have, or does not give us.
std::vector<CorePlace> parse_cores(const std::string& text, const std::vector<CorePlace>& cores);

/// Binds the calling thread to a hardware thread (as the operating system numbers them); false if it may not run there.
bool pin_this_thread(int pu) noexcept;

/// @throws core::InputError for one where no thread of this process may run.
void require_pinnable(const std::vector<CorePlace>& places);

/// Calls `work` with each number below `count`, in a thread of its own, and waits for all. @throws core::InputError if
/// the threads cannot be started.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& work);

/// Describes this machine; /proc and /sys are looked for under `root` (tests have some of their own). Never fails for
/// something that the system does not tell.
core::MachineDescription describe_machine(const Topology& topology, const std::filesystem::path& root = "/");

/// Memory in bytes that programs can still take, as the system and the control group say.
double available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace hplcast::calibration
