#include "core/cluster_json/cluster_pieces.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/cluster_json/schema_walk.hpp"
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

using namespace detail;

static Json own_json(const RegionModel& region) {
  Json json = {{"mode", to_string(region.mode)}};
  if (region.mode == RegionMode::factor) json["factor"] = region.factor;
  if (region.mode == RegionMode::model) json["model"] = own_json(region.model);
  if (region.calls > 0) json["calls"] = region.calls;
  if (region.time_s > 0) json["time_s"] = region.time_s;
  return json;
}

static void take_own(const Node& node, RegionModel& region) {
  region.mode = node.at("mode").made([&] { return region_mode_from_name(node.at("mode").text()); });
  region.factor = node.number_or("factor", 1);
  if (region.mode == RegionMode::factor && !node.has("factor")) node.fail("a region of mode factor has no factor");
  if (region.mode == RegionMode::model && !node.has("model")) node.fail("a region of mode model has no model");
  if (node.has("model")) take_own(node.at("model"), region.model);
  if (node.has("calls")) region.calls = node.at("calls").integer<long>();
  region.time_s = node.number_or("time_s", 0);
}

static void region(Walk& walk, const Json& json) {
  walk.object(json, {{"mode", text},
                     {"factor", positive, false},
                     {"model", kernel, false},
                     {"calls", count, false},
                     {"time_s", at_least_zero, false}});
}

template <typename Fields>
static void describe(Fields& fields, ObservedTime& observed) {
  fields("total_s", observed.total_s, at_least_zero);
  fields("routines_s", observed.routines_s, at_least_zero);
  fields("mpi_s", observed.mpi_s, at_least_zero);
  fields("rest_s", observed.rest_s, at_least_zero);
}

template <typename Fields>
static void describe(Fields& fields, ProgramModel& program) {
  fields.if_any("command", program.command);
  std::optional<ObservedTime> observed;
  if (program.observed.total_s > 0) observed = program.observed;
  fields.if_any("observed", observed);
  program.observed = observed.value_or(ObservedTime());
  fields.if_any("rest_s_per_call", program.rest_s_per_call, at_least_zero);
  fields.if_any("rest_s_per_element", program.rest_s_per_element, at_least_zero);
  fields("routines", program.routines, named<kernel>);
  fields.if_any("regions", program.regions, named<region>);
}

void detail::program(Walk& walk, const Json& json) {
  walk.object(json, keys_of<ProgramModel>());
}

Json detail::to_json(const ProgramModel& program) {
  ProgramModel copy = program;
  return FieldWriter::json_of(copy);
}

ProgramModel detail::program_model_from(const Node& node) {
  return FieldReader::whole<ProgramModel>(node);
}

}  // namespace hplcast::core
