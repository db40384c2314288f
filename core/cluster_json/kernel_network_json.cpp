#include "core/cluster_json/cluster_pieces.hpp"

namespace hplcast::core::detail {

namespace {

Json to_json(const Polynomial& polynomial) {
  Json json = Json::object();
  for (std::size_t i = 0; i < polynomial.terms().size(); ++i) {
    json[to_string(polynomial.terms()[i])] = polynomial.coefficients()[i];
  }
  return json;
}

Polynomial polynomial_from(const Node& node) {
  return node.made([&] {
    std::vector<Monomial> terms;
    std::vector<double> coefficients;
    for (const auto& [key, value] : node.object().items()) {
      terms.push_back(parse_monomial(key));
      coefficients.push_back(node.at(key.c_str()).number());
    }
    return Polynomial::make(std::move(terms), std::move(coefficients));
  });
}

void add_law(Json& json, const DurationLaw& law) {
  json["noise"] = to_string(law.noise());
  json["mu"] = to_json(law.mu());
  if (!law.sigma().empty()) json["sigma"] = to_json(law.sigma());
  if (!law.modes().empty()) json["modes"] = detail::to_json(law.modes());
}

DurationLaw law_from(const Node& node) {
  return node.made([&] {
    const NoiseFamily noise = node.at("noise").made([&] { return noise_family_from_name(node.at("noise").text()); });
    return DurationLaw::make(polynomial_from(node.at("mu")),
                             node.has("sigma") ? polynomial_from(node.at("sigma")) : Polynomial(), noise,
                             node.has("modes") ? modes_from(node.at("modes")) : std::vector<MixtureMode>());
  });
}

/// One law lies flat in `json`; several go under `split` and `pieces`.
void add_piecewise(Json& json, const PiecewiseLaw& law) {
  if (law.pieces().size() == 1) return add_law(json, law.pieces().front().law);
  json["split"] = to_string(law.split());
  json["pieces"] = Json::array();
  for (const LawPiece& piece : law.pieces()) {
    Json one = {{"from", piece.from}};
    add_law(one, piece.law);
    json["pieces"].push_back(std::move(one));
  }
}

PiecewiseLaw piecewise_from(const Node& node) {
  if (!node.has("pieces")) return PiecewiseLaw(law_from(node));
  return node.made([&] {
    std::vector<LawPiece> pieces;
    const Node list = node.at("pieces");
    for (std::size_t i = 0; i < list.size_of_array(); ++i) {
      pieces.push_back({list.at(i).at("from").number(), law_from(list.at(i))});
    }
    return PiecewiseLaw::make(parse_monomial(node.at("split").text()), std::move(pieces));
  });
}

Json to_json(const ShapeRange& range) {
  return {{"m", {range.min.m, range.max.m}}, {"n", {range.min.n, range.max.n}}, {"k", {range.min.k, range.max.k}}};
}

ShapeRange range_from(const Node& node) {
  ShapeRange range;
  const auto read = [&](const char* key, double& min, double& max) {
    const std::vector<double> bounds = node.at(key).numbers();
    if (bounds.size() != 2 || !(bounds[0] <= bounds[1])) node.at(key).fail("expected [smallest, largest]");
    min = bounds[0];
    max = bounds[1];
  };
  read("m", range.min.m, range.max.m);
  read("n", range.min.n, range.max.n);
  read("k", range.min.k, range.max.k);
  return range;
}

Json to_json(const FitQuality& quality) {
  Json json = {{"rows", quality.rows},
               {"shapes", quality.shapes},
               {"rows_set_aside", quality.rows_set_aside},
               {"r2", quality.r2},
               {"bic", quality.bic},
               {"residual_sd_s", quality.residual_sd_s},
               {"mean_abs_relative_error", quality.mean_abs_relative_error}};
  const auto add = [&](const char* key, const std::vector<double>& values) {
    if (!values.empty()) json[key] = values;
  };
  add("mu_standard_errors", quality.mu_standard_errors);
  add("mu_t_values", quality.mu_t_values);
  add("sigma_standard_errors", quality.sigma_standard_errors);
  add("sigma_t_values", quality.sigma_t_values);
  if (!quality.notes.empty()) json["notes"] = quality.notes;
  return json;
}

FitQuality quality_from(const Node& node) {
  FitQuality quality;
  quality.rows = node.at("rows").integer<long>();
  quality.shapes = node.at("shapes").integer<long>();
  quality.rows_set_aside = node.at("rows_set_aside").integer<long>();
  quality.r2 = node.at("r2").number();
  quality.bic = node.at("bic").number();
  quality.residual_sd_s = node.at("residual_sd_s").number();
  quality.mean_abs_relative_error = node.at("mean_abs_relative_error").number();
  const auto read = [&](const char* key, std::vector<double>& values) {
    if (node.has(key)) values = node.at(key).numbers();
  };
  read("mu_standard_errors", quality.mu_standard_errors);
  read("mu_t_values", quality.mu_t_values);
  read("sigma_standard_errors", quality.sigma_standard_errors);
  read("sigma_t_values", quality.sigma_t_values);
  if (node.has("notes")) quality.notes = node.at("notes").texts();
  return quality;
}

}  // namespace

Json to_json(const std::vector<MixtureMode>& modes) {
  Json json = Json::array();
  for (const MixtureMode& mode : modes)
    json.push_back({{"probability", mode.probability}, {"mean", mode.mean}, {"sd", mode.sd}});
  return json;
}

std::vector<MixtureMode> modes_from(const Node& node) {
  std::vector<MixtureMode> modes;
  for (std::size_t i = 0; i < node.size_of_array(); ++i) {
    const Node one = node.at(i);
    modes.push_back({one.at("probability").number(), one.at("mean").number(), one.at("sd").number()});
  }
  return modes;
}

Json to_json(const KernelModel& model) {
  Json json = {{"level", model.level()}};
  add_piecewise(json, model.cluster_law());
  if (!model.overrides().empty()) {
    json["overrides"] = Json::array();
    for (const CpuLaw& one : model.overrides()) {
      Json entry = {{"host", one.host}, {"cpu", one.cpu}};
      add_piecewise(entry, one.law);
      json["overrides"].push_back(std::move(entry));
    }
  }
  if (model.range()) json["range"] = to_json(*model.range());
  if (model.quality().rows > 0) json["quality"] = to_json(model.quality());
  return json;
}

KernelModel kernel_model_from(const Node& node) {
  return node.made([&] {
    std::vector<CpuLaw> overrides;
    if (node.has("overrides")) {
      const Node list = node.at("overrides");
      for (std::size_t i = 0; i < list.size_of_array(); ++i) {
        const Node one = list.at(i);
        overrides.push_back({one.at("host").integer<int>(), one.at("cpu").integer<int>(), piecewise_from(one)});
      }
    }
    return KernelModel::make(node.at("level").text(), piecewise_from(node), std::move(overrides),
                             node.has("range") ? std::optional(range_from(node.at("range"))) : std::nullopt,
                             node.has("quality") ? quality_from(node.at("quality")) : FitQuality());
  });
}

namespace {

Json to_json(const SegmentedLaw& law) {
  Json json = Json::array();
  for (const Segment& s : law.segments()) {
    Json one = {{"min_bytes", s.min_bytes}, {"intercept_s", s.intercept_s}, {"slope_s_per_byte", s.slope_s_per_byte}};
    if (s.sd_s > 0) one["sd_s"] = s.sd_s;
    if (!s.modes.empty()) one["mixture"] = detail::to_json(s.modes);
    json.push_back(std::move(one));
  }
  return json;
}

SegmentedLaw segmented_from(const Node& node) {
  return node.made([&] {
    std::vector<Segment> segments;
    for (std::size_t i = 0; i < node.size_of_array(); ++i) {
      const Node one = node.at(i);
      segments.push_back({one.at("min_bytes").number(), one.at("intercept_s").number(),
                          one.at("slope_s_per_byte").number(), one.number_or("sd_s", 0),
                          one.has("mixture") ? modes_from(one.at("mixture")) : std::vector<MixtureMode>()});
    }
    return SegmentedLaw::make(std::move(segments));
  });
}

Json to_json(const LinkCapacity& capacity) {
  Json json = {{"bytes_per_s", capacity.bytes_per_s}};
  if (capacity.low_bytes_per_s > 0) {
    json["interval_bytes_per_s"] = {capacity.low_bytes_per_s, capacity.high_bytes_per_s};
  }
  json["origin"] = to_string(capacity.origin);
  return json;
}

LinkCapacity capacity_from(const Node& node) {
  LinkCapacity capacity;
  capacity.bytes_per_s = node.at("bytes_per_s").number();
  if (node.has("interval_bytes_per_s")) {
    const std::vector<double> interval = node.at("interval_bytes_per_s").numbers();
    if (interval.size() != 2) node.at("interval_bytes_per_s").fail("expected two numbers: [low, high]");
    capacity.low_bytes_per_s = interval[0];
    capacity.high_bytes_per_s = interval[1];
  }
  if (node.has("origin")) {
    const Node origin = node.at("origin");
    capacity.origin = origin.made([&] { return capacity_origin_from_name(origin.text()); });
  }
  return capacity;
}

Json to_json(const ScopeModel& scope) {
  Json json = {{"bandwidth_bytes_per_s", scope.bandwidth_bytes_per_s}};
  if (scope.capacity) json["capacity"] = to_json(*scope.capacity);
  json["latency_s"] = scope.latency_s;
  if (scope.max_bytes > 0) json["max_bytes"] = scope.max_bytes;
  if (scope.half_duplex) json["half_duplex"] = true;
  Json& operations = json["operations"] = Json::object();
  for (std::size_t i = 0; i < message_cost_count; ++i) operations[message_cost_names[i]] = to_json(scope.costs[i]);
  if (!scope.notes.empty()) json["notes"] = scope.notes;
  return json;
}

ScopeModel scope_from(const Node& node) {
  ScopeModel scope;
  scope.bandwidth_bytes_per_s = node.at("bandwidth_bytes_per_s").number();
  if (node.has("capacity")) scope.capacity = capacity_from(node.at("capacity"));
  scope.latency_s = node.at("latency_s").number();
  scope.max_bytes = node.number_or("max_bytes", 0);
  if (node.has("half_duplex")) scope.half_duplex = node.at("half_duplex").boolean();
  for (std::size_t i = 0; i < message_cost_count; ++i) {
    scope.costs[i] = segmented_from(node.at("operations").at(message_cost_names[i]));
  }
  if (node.has("notes")) scope.notes = node.at("notes").texts();
  return scope;
}

Json to_json(const Topology& topology) {
  Json json = {{"kind", kind_of(topology)}};
  const std::string parameters = parameters_of(topology);
  if (!parameters.empty()) json["parameters"] = parameters;
  if (const Backbone* backbone = backbone_of(topology)) {
    json["backbone_bandwidth_bytes_per_s"] = backbone->bandwidth_bytes_per_s;
    json["backbone_latency_s"] = backbone->latency_s;
  }
  return json;
}

Topology topology_from(const Node& node) {
  Topology topology = node.made([&] {
    return core::topology_from(node.at("kind").text(), node.has("parameters") ? node.at("parameters").text() : "");
  });
  const Backbone backbone{node.number_or("backbone_bandwidth_bytes_per_s", 0), node.number_or("backbone_latency_s", 0)};
  auto* one = std::get_if<SingleSwitch>(&topology);  // what other topologies have of it means nothing
  if (one != nullptr && backbone.bandwidth_bytes_per_s > 0) one->backbone = backbone;
  return topology;
}

}  // namespace

Json to_json(const NetworkModel& model) {
  const NetworkModel::Values& values = model.values();
  Json json = {{"local", to_json(values.local)}};
  if (values.remote) json["remote"] = to_json(*values.remote);
  json["thresholds"] = {{"async_small_bytes", values.async_small_bytes}, {"detached_bytes", values.detached_bytes}};
  json["iprobe_s"] = values.iprobe_s;
  if (values.growing_probes) json["growing_probes"] = true;
  if (values.late_probes) json["late_probes"] = true;
  json["test_s"] = values.test_s;
  json["wtime_s"] = values.wtime_s;
  json["topology"] = to_json(values.topology);
  return json;
}

NetworkModel network_model_from(const Node& node) {
  return node.made([&] {
    NetworkModel::Values values;
    values.local = scope_from(node.at("local"));
    if (node.has("remote")) values.remote = scope_from(node.at("remote"));
    values.async_small_bytes = node.at("thresholds").at("async_small_bytes").integer<std::uint64_t>();
    values.detached_bytes = node.at("thresholds").at("detached_bytes").integer<std::uint64_t>();
    values.iprobe_s = node.at("iprobe_s").number();
    if (node.has("growing_probes")) values.growing_probes = node.at("growing_probes").boolean();
    if (node.has("late_probes")) values.late_probes = node.at("late_probes").boolean();
    values.test_s = node.at("test_s").number();
    values.wtime_s = node.at("wtime_s").number();
    if (node.has("topology")) values.topology = topology_from(node.at("topology"));
    return NetworkModel::make(std::move(values));
  });
}

}  // namespace hplcast::core::detail
