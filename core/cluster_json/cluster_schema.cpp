#include "core/cluster_json/cluster_pieces.hpp"

#include "core/cluster_json/schema_walk.hpp"
#include "hplcast/core/kernel_shape.hpp"

namespace hplcast::core::detail {

namespace {

void rank_to_cpu(Walk& walk, const Json& json) {
  if (json.is_array()) return walk.list(json, count);
  text(walk, json);
}

void hosts(Walk& walk, const Json& json) {
  walk.object(json, {{"names", text},
                     {"cores", count},
                     {"cpus", count},
                     {"rank_to_cpu", rank_to_cpu, false},
                     {"memory_bytes", at_least_zero, false}});
}

/// Coefficients by product of the sizes.
void polynomial(Walk& walk, const Json& json) {
  if (!walk.is_object(json)) return;
  for (const auto& [term, value] : json.items()) {
    try {
      (void)parse_monomial(term);
    } catch (const DomainError& error) {
      walk.note(error.what());
    }
    walk.below(term, [&, &value = value] { number(walk, value); });
  }
}

void mode(Walk& walk, const Json& json) {
  walk.object(json, {{"probability", at_least_zero}, {"mean", number}, {"sd", at_least_zero}});
}

void modes(Walk& walk, const Json& json) {
  walk.list(json, mode);
}

const std::vector<Key> law_keys = {
    {"noise", text}, {"mu", polynomial}, {"sigma", polynomial, false}, {"modes", modes, false}};

void piece(Walk& walk, const Json& json) {
  std::vector<Key> keys = law_keys;
  keys.push_back({"from", number});
  walk.object(json, keys);
}

void pieces(Walk& walk, const Json& json) {
  walk.list(json, piece);
}

/// A law lies flat in an object, or in pieces; `keys` are what else the object has.
void law(Walk& walk, const Json& json, std::vector<Key> keys) {
  if (json.is_object() && json.contains("pieces")) {
    keys.push_back({"split", text});
    keys.push_back({"pieces", pieces});
  } else {
    keys.insert(keys.end(), law_keys.begin(), law_keys.end());
  }
  walk.object(json, keys);
}

void cpu_law(Walk& walk, const Json& json) {
  law(walk, json, {{"host", count}, {"cpu", count}});
}

void overrides(Walk& walk, const Json& json) {
  walk.list(json, cpu_law);
}

void range(Walk& walk, const Json& json) {
  walk.object(json, {{"m", numbers, false}, {"n", numbers, false}, {"k", numbers, false}});
}

void quality(Walk& walk, const Json& json) {
  walk.object(json, {{"rows", count},
                     {"shapes", count},
                     {"rows_set_aside", count},
                     {"r2", number},
                     {"bic", number},
                     {"residual_sd_s", number},
                     {"mean_abs_relative_error", number},
                     {"mu_standard_errors", numbers, false},
                     {"mu_t_values", numbers, false},
                     {"sigma_standard_errors", numbers, false},
                     {"sigma_t_values", numbers, false},
                     {"notes", texts, false}});
}

void kernel(Walk& walk, const Json& json) {
  law(walk, json,
      {{"level", text}, {"overrides", overrides, false}, {"range", range, false}, {"quality", quality, false}});
}

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

void segment(Walk& walk, const Json& json) {
  walk.object(json, {{"min_bytes", at_least_zero},
                     {"intercept_s", number},
                     {"slope_s_per_byte", number},
                     {"sd_s", at_least_zero, false},
                     {"mixture", modes, false}});
}

void segments(Walk& walk, const Json& json) {
  walk.list(json, segment);
}

void operations(Walk& walk, const Json& json) {
  std::vector<Key> keys;
  for (const auto& name : message_cost_names) keys.push_back({name, segments});
  walk.object(json, keys);
}

void capacity(Walk& walk, const Json& json) {
  walk.object(json, {{"bytes_per_s", positive}, {"interval_bytes_per_s", numbers, false}, {"origin", text, false}});
}

void scope(Walk& walk, const Json& json) {
  walk.object(json, {{"bandwidth_bytes_per_s", positive},
                     {"capacity", capacity, false},
                     {"latency_s", positive},
                     {"max_bytes", at_least_zero, false},
                     {"half_duplex", boolean, false},
                     {"operations", operations},
                     {"notes", texts, false}});
}

void thresholds(Walk& walk, const Json& json) {
  walk.object(json, {{"async_small_bytes", count}, {"detached_bytes", count}});
}

void topology(Walk& walk, const Json& json) {
  walk.object(json, {{"kind", text},
                     {"parameters", text, false},
                     {"backbone_bandwidth_bytes_per_s", at_least_zero, false},
                     {"backbone_latency_s", at_least_zero, false}});
}

const std::vector<Key> network_keys = {{"local", scope},
                                       {"remote", scope, false},
                                       {"thresholds", thresholds},
                                       {"iprobe_s", at_least_zero},
                                       {"growing_probes", boolean, false},
                                       {"late_probes", boolean, false},
                                       {"test_s", at_least_zero},
                                       {"wtime_s", at_least_zero},
                                       {"topology", topology, false}};

void network(Walk& walk, const Json& json) {
  walk.object(json, network_keys);
}

/// The result of `fit network` says more than the model.
void network_file(Walk& walk, const Json& json) {
  std::vector<Key> keys = network_keys;
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

void region(Walk& walk, const Json& json) {
  walk.object(json, {{"mode", text},
                     {"factor", positive, false},
                     {"model", kernel, false},
                     {"calls", count, false},
                     {"time_s", at_least_zero, false}});
}

/// By free names.
template <Rule rule>
void named(Walk& walk, const Json& json) {
  if (!walk.is_object(json)) return;
  for (const auto& [name, value] : json.items()) walk.below(name, [&, &value = value] { rule(walk, value); });
}

void observed_time(Walk& walk, const Json& json) {
  walk.object(
      json,
      {{"total_s", at_least_zero}, {"routines_s", at_least_zero}, {"mpi_s", at_least_zero}, {"rest_s", at_least_zero}});
}

void program(Walk& walk, const Json& json) {
  walk.object(json, {{"command", text, false},
                     {"routines", named<kernel>},
                     {"regions", named<region>, false},
                     {"observed", observed_time, false},
                     {"rest_s_per_call", at_least_zero, false},
                     {"rest_s_per_element", at_least_zero, false}});
}

void cluster(Walk& walk, const Json& json) {
  walk.object(json, {{"schema_version", anything},  // the reader has looked at it already
                     {"name", text},
                     {"hosts", hosts},
                     {"kernels", kernels},
                     {"network", network},
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
