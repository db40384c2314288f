#include "core/cluster_json/cluster_pieces.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

constexpr std::array mode_names = {std::pair{RegionMode::model, "model"}, std::pair{RegionMode::factor, "factor"},
                                   std::pair{RegionMode::bench, "bench"}, std::pair{RegionMode::skip, "skip"}};

}  // namespace

const char* to_string(RegionMode mode) {
  for (const auto& [one, name] : mode_names)
    if (one == mode) return name;
  return "unknown";
}

RegionMode region_mode_from_name(const std::string& name) {
  for (const auto& [mode, its_name] : mode_names)
    if (name == its_name) return mode;
  throw DomainError("mode of a region", name, "model, factor, bench or skip");
}

bool is_strided(std::string_view routine) noexcept {
  return ends_with(routine, "/strided") || ends_with(routine, "/half-aliased") || ends_with(routine, "/aliased");
}

bool is_mpi_function(std::string_view routine) noexcept {
  return routine.substr(0, 4) == "MPI_";
}

double largest_face(const KernelShape& shape) noexcept {
  return std::max({shape.m * shape.n, shape.m * shape.k, shape.n * shape.k});
}

namespace detail {

namespace {

Json to_json(const RegionModel& region) {
  Json json = {{"mode", core::to_string(region.mode)}};
  if (region.mode == RegionMode::factor) json["factor"] = region.factor;
  if (region.mode == RegionMode::model) json["model"] = detail::to_json(region.model);
  if (region.calls > 0) json["calls"] = region.calls;
  if (region.time_s > 0) json["time_s"] = region.time_s;
  return json;
}

RegionModel region_from(const Node& node) {
  RegionModel region;
  region.mode = node.at("mode").made([&] { return region_mode_from_name(node.at("mode").text()); });
  region.factor = node.number_or("factor", 1);
  if (region.mode == RegionMode::factor && !node.has("factor")) node.fail("a region of mode factor has no factor");
  if (region.mode == RegionMode::model && !node.has("model")) node.fail("a region of mode model has no model");
  if (node.has("model")) region.model = kernel_model_from(node.at("model"));
  if (node.has("calls")) region.calls = node.at("calls").integer<long>();
  region.time_s = node.number_or("time_s", 0);
  return region;
}

}  // namespace

Json to_json(const ProgramModel& program) {
  Json json = Json::object();
  if (!program.command.empty()) json["command"] = program.command;
  const ObservedTime& observed = program.observed;
  if (observed.total_s > 0) {
    json["observed"] = {{"total_s", observed.total_s},
                        {"routines_s", observed.routines_s},
                        {"mpi_s", observed.mpi_s},
                        {"rest_s", observed.rest_s}};
  }
  if (program.rest_s_per_call > 0) json["rest_s_per_call"] = program.rest_s_per_call;
  if (program.rest_s_per_element > 0) json["rest_s_per_element"] = program.rest_s_per_element;
  Json& routines = json["routines"] = Json::object();
  for (const auto& [name, model] : program.routines) routines[name] = to_json(model);
  if (program.regions.empty()) return json;
  Json& regions = json["regions"] = Json::object();
  for (const auto& [name, region] : program.regions) regions[name] = to_json(region);
  return json;
}

ProgramModel program_model_from(const Node& node) {
  ProgramModel program;
  if (node.has("command")) program.command = node.at("command").text();
  if (node.has("observed")) {
    const Node observed = node.at("observed");
    program.observed = {observed.at("total_s").number(), observed.at("routines_s").number(),
                        observed.at("mpi_s").number(), observed.at("rest_s").number()};
  }
  program.rest_s_per_call = node.number_or("rest_s_per_call", 0);
  program.rest_s_per_element = node.number_or("rest_s_per_element", 0);
  const Node routines = node.at("routines");
  for (const auto& [name, value] : routines.object().items())
    program.routines[name] = kernel_model_from(routines.at(name.c_str()));
  if (!node.has("regions")) return program;
  const Node regions = node.at("regions");
  for (const auto& [name, value] : regions.object().items())
    program.regions[name] = region_from(regions.at(name.c_str()));
  return program;
}

}  // namespace detail
}  // namespace hplcast::core
