#include "core/cluster_json/cluster_pieces.hpp"

#include "core/cluster_json/schema_walk.hpp"
#include "hplcast/core/kernel_shape.hpp"

namespace hplcast::core::detail {

namespace {

void kernels(Walk& walk, const Json& json) {
  if (!walk.is_object(json)) return;
  const std::vector<std::string> known(kernel_names.begin(), kernel_names.end());
  for (const auto& [name, value] : json.items()) {
    walk.below(name, [&, &name = name, &value = value] {
      if (!kernel_from_name(name)) walk.note("not a kernel of HPL", name_hint(name, known));
      kernel(walk, value);
    });
  }
}

/// The result of `fit network` says more than the model.
void network_file(Walk& walk, const Json& json) {
  std::vector<Key> keys = network_keys();
  for (const char* more : {"smpi", "report"}) keys.push_back({more, anything, false});
  walk.object(json, keys);
}

void detour_duration(Walk& walk, const Json& json) {
  walk.object(json, {{"law", text},
                     {"mean_s", at_least_zero, false},
                     {"least_s", at_least_zero, false},
                     {"most_s", at_least_zero, false},
                     {"quantiles_s", numbers, false}});
}

void core_numbers(Walk& walk, const Json& json) {
  walk.list(json, count);
}

void detour_source(Walk& walk, const Json& json) {
  walk.object(json, {{"name", text},
                     {"kind", text},
                     {"period_s", positive},
                     {"jitter_s", at_least_zero, false},
                     {"duration", detour_duration},
                     {"per", text},
                     {"phase_s", at_least_zero, false},
                     {"in_kernels", boolean, false},
                     {"cores", core_numbers, false}});
}

void detours(Walk& walk, const Json& json) {
  walk.list(json, detour_source);
}

/// The result of `fit detours` says more than the model.
void detours_file(Walk& walk, const Json& json) {
  walk.object(json, {{"detours", detours}, {"report", anything, false}});
}

void cluster(Walk& walk, const Json& json) {
  walk.object(json, {{"schema_version", anything},  // the reader has looked at it already
                     {"name", text},
                     {"hosts", hosts},
                     {"kernels", kernels},
                     {"network", network_model},
                     {"power", power, false},
                     {"detours", detours, false},
                     {"program", program, false},
                     {"provenance", any_object, false}});
}

std::vector<Problem> problems_of(const Json& json, Rule rule) {
  Walk walk;
  rule(walk, json);
  return walk.problems();
}

}  // namespace

std::vector<Problem> schema_problems(const Json& json) {
  return problems_of(json, cluster);
}

std::vector<Problem> kernels_schema_problems(const Json& json) {
  return problems_of(json, kernels);
}

std::vector<Problem> network_schema_problems(const Json& json) {
  return problems_of(json, network_file);
}

std::vector<Problem> detours_schema_problems(const Json& json) {
  return problems_of(json, detours_file);
}

void require_none(const std::vector<Problem>& problems, const std::string& file) {
  if (problems.empty()) return;
  const Problem& first = problems.front();
  std::string hint = first.hint;
  if (problems.size() > 1) {
    hint += (hint.empty() ? "" : "\n  ") + std::to_string(problems.size() - 1) +
            " more problems; `hplcast check-cluster` lists those of a cluster.json";
  }
  throw ParseError({file, 0, first.field}, first.message, hint);
}

}  // namespace hplcast::core::detail
