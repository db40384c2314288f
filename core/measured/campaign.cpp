#include "hplcast/core/campaign.hpp"

#include <ostream>
#include <set>

#include "core/base/described_json.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core {

bool is_oversubscribed(const MeasurementContext& context) {
  std::set<std::pair<std::string, int>> taken;
  for (const RankPlace& place : context.ranks) {
    if (!taken.insert({place.host, place.core}).second) return true;
  }
  return false;
}

using detail::FieldWriter;
using detail::Json;

template <typename Fields>
static void describe(Fields& fields, MachineDescription& machine) {
  fields("host", machine.host);
  fields("kernel", machine.kernel);
  fields("firmware", machine.firmware);
  fields("cpu_model", machine.cpu_model);
  fields("virtual_machine", machine.virtual_machine);
  fields("packages", machine.packages);
  fields("cores", machine.cores);
  fields("hardware_threads", machine.hardware_threads);
  fields("numa_nodes", machine.numa_nodes);
  fields("core_cpu", machine.core_cpu);
  fields("caches", machine.caches);
  fields("memory_bytes", machine.memory_bytes);
  fields("memory_available_bytes", machine.memory_available_bytes);
  fields("shared_memory_free_bytes", machine.shared_memory_free_bytes);
  fields("transparent_hugepages", machine.transparent_hugepages);
  fields("governor", machine.governor);
  fields("turbo", machine.turbo);
  fields("min_frequency_hz", machine.min_frequency_hz);
  fields("max_frequency_hz", machine.max_frequency_hz);
  fields("clock_source", machine.clock_source);
  fields("clock_resolution_s", machine.clock_resolution_s);
  fields("load_1min", machine.load_1min);
  fields("other_users", machine.other_users);
  fields("steal", machine.steal);
  fields("cpu_quota", machine.cpu_quota);
  fields.if_any("settings", machine.settings);
  fields("max_map_count", machine.max_map_count);
  fields("overcommit_memory", machine.overcommit_memory);
  fields("stack_bytes", machine.stack_bytes);
  fields("address_space_bytes", machine.address_space_bytes);
  fields("locked_memory_bytes", machine.locked_memory_bytes);
}

template <typename Fields>
static void describe(Fields& fields, SoftwareDescription& software) {
  std::optional<std::string> blas_file;
  if (!software.blas_file.empty()) blas_file = software.blas_file;
  fields("mpi_library", software.mpi_library);
  fields("mpi_standard", software.mpi_standard);
  fields("blas_library", software.blas_library);
  fields.if_any("blas_file", blas_file);
  software.blas_file = blas_file.value_or("");
  fields("blas_config", software.blas_config);
  fields("blas_core_type", software.blas_core_type);
  fields("blas_threads", software.blas_threads);
  fields("compiler", software.compiler);
}

template <typename Fields>
static void describe(Fields& fields, RankPlace& place) {
  fields("rank", place.rank);
  fields("host", place.host);
  fields("cpu", place.cpu);
  fields("core", place.core);
}

template <typename Fields>
static void describe(Fields& fields, CacheDescription& cache) {
  fields("level", cache.level);
  fields("instruction", cache.instruction);
  fields("size_bytes", cache.size_bytes);
  fields("count", cache.count);
}

template <typename Fields>
static void describe(Fields& fields, MeasurementContext& context) {
  fields("machines", context.machines);
  fields("software", context.software);
  fields("ranks", context.ranks);
}

void write_json(std::ostream& out, const MachineDescription& machine) {
  out << json_text(FieldWriter::json_of(machine), 2) << '\n';
}

void write_json(std::ostream& out, const MeasurementContext& context) {
  Json json = FieldWriter::json_of(context);
  json["oversubscribed"] = is_oversubscribed(context);
  out << json_text(json, 2) << '\n';
}

MeasurementContext read_context(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const detail::Node root(json, name);
  for (const char* part : {"machines", "software", "ranks"}) (void)root.at(part);
  return detail::FieldReader::read<MeasurementContext>(root, detail::Reading::any);
}

std::string blas_of(const ClusterModel& cluster) {
  const auto provenance = detail::Json::parse(cluster.provenance, nullptr, false);
  const auto library = detail::Json::json_pointer("/surroundings/software/blas_library");
  if (!provenance.is_object() || !provenance.contains(library) || !provenance.at(library).is_string()) return "";
  return provenance.at(library).get<std::string>();
}

}  // namespace hplcast::core
