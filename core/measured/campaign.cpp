#include "hplcast/core/campaign.hpp"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::core {

bool is_oversubscribed(const MeasurementContext& context) {
  std::set<std::pair<std::string, int>> taken;
  for (const RankPlace& place : context.ranks) {
    if (!taken.insert({place.host, place.core}).second) return true;
  }
  return false;
}

namespace {

using Json = nlohmann::ordered_json;

/// Visits every field of a description with its name in the JSON, so that writer and reader cannot differ.
template <typename Machine, typename Visitor>
void visit_fields(Machine& machine, Visitor& visit) {
  visit("host", machine.host);
  visit("kernel", machine.kernel);
  visit("firmware", machine.firmware);
  visit("cpu_model", machine.cpu_model);
  visit("virtual_machine", machine.virtual_machine);
  visit("packages", machine.packages);
  visit("cores", machine.cores);
  visit("hardware_threads", machine.hardware_threads);
  visit("numa_nodes", machine.numa_nodes);
  visit("core_cpu", machine.core_cpu);
  visit("caches", machine.caches);
  visit("memory_bytes", machine.memory_bytes);
  visit("memory_available_bytes", machine.memory_available_bytes);
  visit("shared_memory_free_bytes", machine.shared_memory_free_bytes);
  visit("transparent_hugepages", machine.transparent_hugepages);
  visit("governor", machine.governor);
  visit("turbo", machine.turbo);
  visit("min_frequency_hz", machine.min_frequency_hz);
  visit("max_frequency_hz", machine.max_frequency_hz);
  visit("clock_source", machine.clock_source);
  visit("clock_resolution_s", machine.clock_resolution_s);
  visit("load_1min", machine.load_1min);
  visit("other_users", machine.other_users);
  visit("steal", machine.steal);
  visit("cpu_quota", machine.cpu_quota);
  visit("max_map_count", machine.max_map_count);
  visit("overcommit_memory", machine.overcommit_memory);
  visit("stack_bytes", machine.stack_bytes);
  visit("address_space_bytes", machine.address_space_bytes);
  visit("locked_memory_bytes", machine.locked_memory_bytes);
}

template <typename Software, typename Visitor>
void visit_software(Software& software, Visitor& visit) {
  visit("mpi_library", software.mpi_library);
  visit("mpi_standard", software.mpi_standard);
  visit("blas_library", software.blas_library);
  visit("blas_config", software.blas_config);
  visit("blas_core_type", software.blas_core_type);
  visit("blas_threads", software.blas_threads);
  visit("compiler", software.compiler);
}

template <typename Place, typename Visitor>
void visit_place(Place& place, Visitor& visit) {
  visit("rank", place.rank);
  visit("host", place.host);
  visit("cpu", place.cpu);
  visit("core", place.core);
}

template <typename Cache, typename Visitor>
void visit_cache(Cache& cache, Visitor& visit) {
  visit("level", cache.level);
  visit("instruction", cache.instruction);
  visit("size_bytes", cache.size_bytes);
  visit("count", cache.count);
}

struct Writer {
  Json json = Json::object();

  template <typename T>
  void operator()(const char* name, const T& value) {
    json[name] = value;
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    json[name] = value ? Json(*value) : Json();
  }
  void operator()(const char* name, const std::vector<CacheDescription>& caches) {
    Json list = Json::array();
    for (const CacheDescription& cache : caches) {
      Writer one;
      visit_cache(cache, one);
      list.push_back(std::move(one.json));
    }
    json[name] = std::move(list);
  }
};

/// Fields that are missing keep their default: a newer hplcast reads older files.
struct Reader {
  const Json& json;

  template <typename T>
  void operator()(const char* name, T& value) {
    if (json.contains(name)) json.at(name).get_to(value);
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& value) {
    if (json.contains(name) && !json.at(name).is_null()) value = json.at(name).get<T>();
  }
  void operator()(const char* name, std::vector<CacheDescription>& caches) {
    if (!json.contains(name)) return;
    for (const Json& entry : json.at(name)) {
      CacheDescription cache;
      Reader one{entry};
      visit_cache(cache, one);
      caches.push_back(cache);
    }
  }
};

Json to_json(const MachineDescription& machine) {
  Writer writer;
  visit_fields(machine, writer);
  return std::move(writer.json);
}

MachineDescription machine_of(const Json& json) {
  if (!json.is_object()) throw DomainError("machine", json.type_name(), "a JSON object");
  MachineDescription machine;
  Reader reader{json};
  visit_fields(machine, reader);
  return machine;
}

MeasurementContext context_of(const Json& json) {
  MeasurementContext context;
  for (const Json& machine : json.at("machines")) context.machines.push_back(machine_of(machine));
  Reader software{json.at("software")};
  visit_software(context.software, software);
  for (const Json& entry : json.at("ranks")) {
    RankPlace place;
    Reader one{entry};
    visit_place(place, one);
    context.ranks.push_back(place);
  }
  return context;
}

}  // namespace

void write_json(std::ostream& out, const MachineDescription& machine) {
  out << json_text(to_json(machine), 2) << '\n';
}

void write_json(std::ostream& out, const MeasurementContext& context) {
  Json json;
  json["machines"] = Json::array();
  for (const MachineDescription& machine : context.machines) json["machines"].push_back(to_json(machine));
  Writer software;
  visit_software(context.software, software);
  json["software"] = std::move(software.json);
  json["ranks"] = Json::array();
  for (const RankPlace& place : context.ranks) {
    Writer one;
    visit_place(place, one);
    json["ranks"].push_back(std::move(one.json));
  }
  json["oversubscribed"] = is_oversubscribed(context);
  out << json_text(json, 2) << '\n';
}

MeasurementContext read_context(std::istream& in, const std::string& name) {
  try {
    return context_of(parse_json<Json>(read_json_text(in, name)));
  } catch (const nlohmann::json::exception& error) {
    throw ParseError({name, 0, ""}, error.what());
  } catch (const DomainError& error) {
    throw ParseError({name, 0, ""}, error.what());
  }
}

}  // namespace hplcast::core
