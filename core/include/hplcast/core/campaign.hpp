#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/doubts.hpp"

/// A campaign of measurements: what it holds, and the hosts that it was made on.
namespace hplcast::core {

struct ClusterModel;

/// All caches of one level and kind that are alike.
struct CacheDescription {
  int level = 0;
  bool instruction = false;
  double size_bytes = 0;
  int count = 0;  ///< on the host
};

/// A host and its state: stored with measurements, examined by the doctor. Optional values are
/// absent where the system does not tell (virtual machines often hide frequencies).
struct MachineDescription {
  std::string host;
  std::string kernel;    ///< of the operating system: name, release, machine
  std::string firmware;  ///< version and date of the BIOS; empty: not known
  std::string cpu_model;
  bool virtual_machine = false;
  int packages = 1;  ///< CPUs (sockets)
  int cores = 1;
  int hardware_threads = 1;
  int numa_nodes = 1;
  std::vector<int> core_cpu;  ///< CPU of each core, in the order of the cores
  std::vector<CacheDescription> caches;

  double memory_bytes = 0;
  double memory_available_bytes = 0;
  double shared_memory_free_bytes = 0;  ///< of /dev/shm, where MPI keeps its buffers
  std::string transparent_hugepages;    ///< always, madvise, never; empty: not known

  std::string governor;  ///< of the CPU frequency; "mixed" if they differ, empty: not known
  std::optional<bool> turbo;
  std::optional<double> min_frequency_hz, max_frequency_hz;
  std::string clock_source;  ///< of the kernel, such as tsc or kvm-clock
  double clock_resolution_s = 0;
  static constexpr double idle_load = 0.5;  ///< below: a shell, an editor and the daemons of an idle machine
  double load_1min = 0;                     ///< mean number of runnable tasks over the last minute
  std::optional<double> load_now;           ///< those of others; absent: load_1min is below idle_load, or not known
  std::vector<std::string> other_users;     ///< people besides us who have processes
  std::optional<double> steal;              ///< share of time since boot that other virtual machines took
  std::optional<double> cpu_quota;          ///< limit of the control group, in cores; absent: none

  std::map<std::string, std::string> settings;  ///< by name, those that the system tells

  std::optional<double> max_map_count;        ///< vm.max_map_count
  std::optional<int> overcommit_memory;       ///< vm.overcommit_memory
  std::optional<double> stack_bytes;          ///< soft limit; absent: unlimited
  std::optional<double> address_space_bytes;  ///< soft limit; absent: unlimited
  std::optional<double> locked_memory_bytes;  ///< soft limit; absent: unlimited
};

/// MPI and BLAS as a measuring program found them in its own process.
struct SoftwareDescription {
  std::string mpi_library;     ///< MPI_Get_library_version, first line
  std::string mpi_standard;    ///< such as 3.1
  std::string blas_library;    ///< name and version
  std::string blas_file;       ///< the shared library; empty: not said
  std::string blas_config;     ///< how it was built
  std::string blas_core_type;  ///< kernels that it picked for this CPU
  int blas_threads = 0;        ///< threads that it would use unless told otherwise
  std::string compiler;
};

/// Where one MPI rank ran.
struct RankPlace {
  int rank = 0;
  std::string host;
  int cpu = 0;
  int core = 0;
};

/// Everything about the surroundings of a measurement.
struct MeasurementContext {
  std::vector<MachineDescription> machines;  ///< one per host
  SoftwareDescription software;
  std::vector<RankPlace> ranks;
};

/// Whether two ranks shared a core: such measurements say little.
bool is_oversubscribed(const MeasurementContext& context);

/// JSON (docs/formats/machine-json.md), with a final newline.
void write_json(std::ostream& out, const MachineDescription& machine);
void write_json(std::ostream& out, const MeasurementContext& context);

/// Reads what write_json() wrote of a context. @throws ParseError
MeasurementContext read_context(std::istream& in, const std::string& name);

/// The BLAS that the kernels of a model were measured with, as its provenance says; empty: it does not say.
std::string blas_of(const ClusterModel& cluster);

/// The path of the context in a campaign.
inline constexpr const char* campaign_hosts_file = "surroundings/hosts.json";
/// The path of its control measurements, if it has any (read_controls()).
inline constexpr const char* campaign_control_file = "control.csv";

/// Measurements of `hplcast calibrate`, as they are read (docs/formats/campaign.md).
struct CampaignArchive {
  std::map<std::string, std::string> files;         ///< by path
  std::map<std::string, std::string> measurements;  ///< those of them that models are fitted to
  MeasurementContext context;                       ///< of the whole campaign; one host at least
  /// Flags that have nothing to do with models: oversubscribed, busy_host, idle_cores, throttling.
  std::vector<QualityFlag> doubts;
};

}  // namespace hplcast::core
