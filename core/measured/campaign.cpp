#include "hplcast/core/campaign.hpp"

#include <ostream>
#include <set>

#include "core/base/described_json.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core {

bool is_oversubscribed(const MeasurementContext& context) {
  std::set<std::pair<std::string, int>> taken;
  for (const RankPlace& place : context.ranks)
    if (!taken.insert({place.host, place.core}).second) return true;
  return false;
}

using detail::FieldWriter;
using detail::Json;

HPLCAST_DESCRIPTION(MachineDescription, machine) {
  HPLCAST_FIELDS(machine, host, kernel, firmware, cpu_model, virtual_machine, packages, cores, hardware_threads,
                 numa_nodes, core_cpu, caches, memory_bytes, memory_available_bytes, shared_memory_free_bytes,
                 transparent_hugepages, governor, turbo, min_frequency_hz, max_frequency_hz, clock_source,
                 clock_resolution_s, load_1min, other_users, steal, cpu_quota);
  fields.if_any("load_now", machine.load_now);
  fields.if_any("settings", machine.settings);
  HPLCAST_FIELDS(machine, max_map_count, overcommit_memory, stack_bytes, address_space_bytes, locked_memory_bytes);
}

HPLCAST_DESCRIPTION(SoftwareDescription, software) {
  std::optional<std::string> blas_file;
  if (!software.blas_file.empty()) blas_file = software.blas_file;
  HPLCAST_FIELDS(software, mpi_library, mpi_standard, blas_library);
  fields.if_any("blas_file", blas_file);
  software.blas_file = blas_file.value_or("");
  HPLCAST_FIELDS(software, blas_config, blas_core_type, blas_threads, compiler);
}

HPLCAST_DESCRIBED(RankPlace, rank, host, cpu, core);

HPLCAST_DESCRIBED(CacheDescription, level, instruction, size_bytes, count);

HPLCAST_DESCRIBED(MeasurementContext, machines, software, ranks);

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
