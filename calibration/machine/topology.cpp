#include "hplcast/calibration/machine.hpp"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

struct BitmapDeleter {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

int count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

/// Index of the package around an object; 0 where the machine does not tell.
int package_of(hwloc_topology_t topology, hwloc_obj_t object) {
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
  return package == nullptr ? 0 : static_cast<int>(package->logical_index);
}

std::vector<CorePlace> cores_of(hwloc_topology_t topology) {
  // Some virtual machines and containers show no cores, only hardware threads.
  const hwloc_obj_type_t type = count_of(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<CorePlace> cores;
  for (int i = 0; i < count_of(topology, type); ++i) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
    cores.push_back({package_of(topology, core), i, hwloc_bitmap_first(core->cpuset)});
  }
  return cores;
}

std::vector<core::CacheDescription> caches_of(hwloc_topology_t topology) {
  std::vector<core::CacheDescription> caches;
  const int depth = hwloc_topology_get_depth(topology);
  for (int level = 0; level < depth; ++level) {
    const unsigned objects = hwloc_get_nbobjs_by_depth(topology, level);
    for (unsigned i = 0; i < objects; ++i) {
      const hwloc_obj_t object = hwloc_get_obj_by_depth(topology, level, i);
      if (hwloc_obj_type_is_cache(object->type) == 0) continue;
      const core::CacheDescription cache{static_cast<int>(object->attr->cache.depth),
                                         object->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION,
                                         static_cast<double>(object->attr->cache.size), 1};
      const auto same = std::find_if(caches.begin(), caches.end(), [&](const core::CacheDescription& other) {
        return other.level == cache.level && other.instruction == cache.instruction &&
               other.size_bytes == cache.size_bytes;
      });
      if (same == caches.end()) {
        caches.push_back(cache);
      } else {
        ++same->count;
      }
    }
  }
  return caches;
}

std::string cpu_model_of(hwloc_topology_t topology) {
  for (const hwloc_obj_t object :
       {hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(topology)}) {
    const char* name = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, "CPUModel");
    if (name != nullptr) return name;
  }
  return "";
}

[[noreturn]] void refuse(const std::string& text) {
  throw core::UsageError("--cores is `" + text + "`; expected numbers of cores such as 0-3,8, or all");
}

/// "7": digits only, at most six.
long number_of(const std::string& digits, const std::string& text) {
  const bool fine = !digits.empty() && digits.size() <= 6 &&
                    std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!fine) refuse(text);
  return std::stol(digits);
}

const CorePlace& find_core(long number, const std::vector<CorePlace>& cores) {
  const auto place = std::find_if(cores.begin(), cores.end(), [&](const CorePlace& c) { return c.core == number; });
  if (place == cores.end())
    throw core::InputError("core " + std::to_string(number) +
                           " is none that this process may be pinned to; there are " + std::to_string(cores.size()) +
                           ", from 0\n  hint: --cores all");
  return *place;
}

}  // namespace

Topology::Topology(std::shared_ptr<hwloc_topology> handle)
    : handle_(std::move(handle)), cores_(cores_of(handle_.get())) {}

int Topology::hardware_threads() const {
  return count_of(handle_.get(), HWLOC_OBJ_PU);
}

int Topology::cores_per(const std::string& place) const {
  const std::map<std::string, hwloc_obj_type_t> types = {{"l3", HWLOC_OBJ_L3CACHE},
                                                         {"numa", HWLOC_OBJ_NUMANODE},
                                                         {"socket", HWLOC_OBJ_PACKAGE},
                                                         {"host", HWLOC_OBJ_MACHINE}};
  const auto type = types.find(place);
  if (type == types.end()) throw core::InputError("found `" + place + "`; expected a number, l3, numa, socket or host");
  std::set<std::ptrdiff_t> counts;
  for (int i = 0; i < count_of(handle_.get(), type->second); ++i) {
    const hwloc_obj_t object = hwloc_get_obj_by_type(handle_.get(), type->second, static_cast<unsigned>(i));
    const auto inside = std::count_if(cores_.begin(), cores_.end(), [&](const CorePlace& core) {
      return hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(core.pu)) != 0;
    });
    if (inside > 0) counts.insert(inside);
  }
  if (counts.empty()) throw core::InputError("this machine does not tell which cores share its " + place);
  if (counts.size() > 1)
    throw core::InputError("places of the kind " + place + " have from " + std::to_string(*counts.begin()) + " to " +
                           std::to_string(*counts.rbegin()) + " cores here: say the number of threads");
  return static_cast<int>(*counts.begin());
}

void Topology::describe(core::MachineDescription& machine) const {
  hwloc_topology_t topology = handle_.get();
  machine.cpu_model = cpu_model_of(topology);
  machine.packages = std::max(1, count_of(topology, HWLOC_OBJ_PACKAGE));
  machine.cores = static_cast<int>(cores_.size());
  machine.hardware_threads = hardware_threads();
  machine.numa_nodes = std::max(1, count_of(topology, HWLOC_OBJ_NUMANODE));
  for (const CorePlace& place : cores_) machine.core_cpu.push_back(place.cpu);
  machine.caches = caches_of(topology);
}

Topology Topology::of_this_machine() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0)
    throw core::Error(core::ExitCode::external_failure, "hwloc cannot be initialised");
  std::shared_ptr<hwloc_topology> handle(topology, hwloc_topology_destroy);
  // Instruction caches are left out by default; the rest of the filters are hwloc's.
  hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) != 0)
    throw core::Error(core::ExitCode::external_failure, "hwloc cannot read the topology of this machine");
  return Topology(std::move(handle));
}

std::vector<CorePlace> Topology::bound_cores() const {
  const Bitmap set(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(handle_.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0) return cores_;
  std::vector<CorePlace> bound;
  for (const CorePlace& place : cores_) {
    const hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(handle_.get(), static_cast<unsigned>(place.pu));
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(handle_.get(), HWLOC_OBJ_CORE, pu);
    if (hwloc_bitmap_intersects((core != nullptr ? core : pu)->cpuset, set.get()) != 0) bound.push_back(place);
  }
  return bound;
}

void Topology::bind(const std::vector<CorePlace>& places) const {
  const Bitmap set(hwloc_bitmap_alloc());
  for (const CorePlace& place : places) hwloc_bitmap_set(set.get(), static_cast<unsigned>(place.pu));
  if (hwloc_set_cpubind(handle_.get(), set.get(), HWLOC_CPUBIND_PROCESS) != 0)
    throw core::Error(core::ExitCode::external_failure,
                      std::string("the process cannot be bound to its cores: ") + std::strerror(errno));
}

std::string Topology::xml() const {
  char* buffer = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(handle_.get(), &buffer, &length, 0) != 0) return "";
  std::string text(buffer, static_cast<std::size_t>(std::max(0, length - 1)));  // the length counts the final NUL
  hwloc_free_xmlbuffer(handle_.get(), buffer);
  return text;
}

std::vector<CorePlace> choose_cores(const std::vector<CorePlace>& cores, const std::vector<CorePlace>& bound,
                                    int local_rank, int threads) {
  const std::size_t wanted = static_cast<std::size_t>(threads);
  if (bound.size() == wanted) return bound;
  const std::size_t first = static_cast<std::size_t>(local_rank) * wanted;
  if (first + wanted > cores.size())
    throw core::InputError("local rank " + std::to_string(local_rank) + " with " + std::to_string(threads) +
                           " thread(s) has no core left: the host has " + std::to_string(cores.size()) +
                           "\n  hint: start fewer ranks per host");
  const auto begin = cores.begin() + static_cast<std::ptrdiff_t>(first);
  return std::vector<CorePlace>(begin, begin + threads);
}

std::vector<CorePlace> parse_cores(const std::string& text, const std::vector<CorePlace>& cores) {
  if (cores.empty()) throw core::InputError("there is no core that this process may be pinned to");
  if (text == "all") return cores;
  std::vector<CorePlace> chosen;
  std::set<long> seen;
  for (const std::string& part : core::split(text, ',')) {
    const std::size_t dash = part.find('-');
    const long first = number_of(part.substr(0, dash), text);
    const long last = dash == std::string::npos ? first : number_of(part.substr(dash + 1), text);
    if (last < first) refuse(text);
    for (long number = first; number <= last; ++number) {
      chosen.push_back(find_core(number, cores));
      if (!seen.insert(number).second)
        throw core::UsageError("--cores is `" + text + "`; core " + std::to_string(number) + " is there twice");
    }
  }
  if (chosen.empty() || text.back() == ',') refuse(text);
  return chosen;
}

bool pin_this_thread(int pu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (pu < 0 || pu >= CPU_SETSIZE) return false;
  CPU_SET(static_cast<std::size_t>(pu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

void in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::future<void>> works;
  try {
    for (std::size_t i = 0; i < count; ++i) works.push_back(std::async(std::launch::async, work, i));
  } catch (const std::system_error& error) {
    throw core::InputError(std::string("the threads cannot be started: ") + error.what());
  }
  for (std::future<void>& one : works) one.get();
}

void require_pinnable(const std::vector<CorePlace>& places) {
  for (const CorePlace& place : places)
    if (!std::async(std::launch::async, pin_this_thread, place.pu).get())
      throw core::InputError("core " + std::to_string(place.core) +
                             ": this process may not be pinned to it\n  hint: choose others with --cores; taskset or "
                             "the launcher may have bound it, see `hplcast doctor`");
}

}  // namespace hplcast::calibration
