#include "core/cluster_json/cluster_pieces.hpp"
#include "core/cluster_json/schema_walk.hpp"

namespace hplcast::core {

using namespace detail;

// --- laws of kernels ---

template <typename Fields>
static void describe(Fields& fields, MixtureMode& mode) {
  fields("probability", mode.probability, at_least_zero);
  fields("mean", mode.mean);
  fields("sd", mode.sd, at_least_zero);
}

template <typename Fields>
static void describe(Fields& fields, FitQuality& quality) {
  fields("rows", quality.rows);
  fields("shapes", quality.shapes);
  fields("rows_set_aside", quality.rows_set_aside);
  fields("r2", quality.r2);
  fields("bic", quality.bic);
  fields("residual_sd_s", quality.residual_sd_s);
  fields("mean_abs_relative_error", quality.mean_abs_relative_error);
  fields.if_any("mu_standard_errors", quality.mu_standard_errors);
  fields.if_any("mu_t_values", quality.mu_t_values);
  fields.if_any("sigma_standard_errors", quality.sigma_standard_errors);
  fields.if_any("sigma_t_values", quality.sigma_t_values);
  fields.if_any("notes", quality.notes);
}

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
  if (std::vector<MixtureMode> modes = law.modes(); !modes.empty()) json["modes"] = FieldWriter::json_of(modes);
}

DurationLaw law_from(const Node& node) {
  return node.made([&] {
    const NoiseFamily noise = node.at("noise").made([&] { return noise_family_from_name(node.at("noise").text()); });
    return DurationLaw::make(polynomial_from(node.at("mu")),
                             node.has("sigma") ? polynomial_from(node.at("sigma")) : Polynomial(), noise,
                             node.has("modes") ? FieldReader::whole<std::vector<MixtureMode>>(node.at("modes"))
                                               : std::vector<MixtureMode>());
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

const std::vector<Key> law_keys = {{"noise", text},
                                   {"mu", polynomial},
                                   {"sigma", polynomial, false},
                                   {"modes", RuleOf<std::vector<MixtureMode>>::check, false}};

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

}  // namespace

void detail::kernel(Walk& walk, const Json& json) {
  law(walk, json,
      {{"level", text},
       {"overrides", overrides, false},
       {"range", range, false},
       {"quality", RuleOf<FitQuality>::check, false}});
}

Json own_json(const KernelModel& model) {
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
  if (FitQuality quality = model.quality(); quality.rows > 0) json["quality"] = FieldWriter::json_of(quality);
  return json;
}

void take_own(const Node& node, KernelModel& model) {
  model = node.made([&] {
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
                             node.has("quality") ? FieldReader::whole<FitQuality>(node.at("quality")) : FitQuality());
  });
}

// --- the network ---

template <typename Fields>
static void describe(Fields& fields, Segment& segment) {
  fields("min_bytes", segment.min_bytes, at_least_zero);
  fields("intercept_s", segment.intercept_s);
  fields("slope_s_per_byte", segment.slope_s_per_byte);
  fields.if_any("sd_s", segment.sd_s, at_least_zero);
  fields.if_any("mixture", segment.modes);
}

static Json own_json(const SegmentedLaw& law) {
  std::vector<Segment> segments = law.segments();
  return FieldWriter::json_of(segments);
}

static void take_own(const Node& node, SegmentedLaw& law) {
  law = node.made([&] { return SegmentedLaw::make(FieldReader::whole<std::vector<Segment>>(node)); });
}

using Operations = std::array<SegmentedLaw, message_cost_count>;

static Json own_json(const Operations& laws) {
  Json json = Json::object();
  for (std::size_t i = 0; i < message_cost_count; ++i) json[message_cost_names[i]] = own_json(laws[i]);
  return json;
}

static void take_own(const Node& node, Operations& laws) {
  for (std::size_t i = 0; i < message_cost_count; ++i) take_own(node.at(message_cost_names[i]), laws[i]);
}

static Json own_json(const LinkCapacity& capacity) {
  Json json = {{"bytes_per_s", capacity.bytes_per_s}};
  if (capacity.low_bytes_per_s > 0) {
    json["interval_bytes_per_s"] = {capacity.low_bytes_per_s, capacity.high_bytes_per_s};
  }
  json["origin"] = to_string(capacity.origin);
  return json;
}

static void take_own(const Node& node, LinkCapacity& capacity) {
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
}

static Json own_json(const Topology& topology) {
  Json json = {{"kind", kind_of(topology)}};
  const std::string parameters = parameters_of(topology);
  if (!parameters.empty()) json["parameters"] = parameters;
  if (const Backbone* backbone = backbone_of(topology)) {
    json["backbone_bandwidth_bytes_per_s"] = backbone->bandwidth_bytes_per_s;
    json["backbone_latency_s"] = backbone->latency_s;
  }
  return json;
}

static void take_own(const Node& node, Topology& topology) {
  topology = node.made([&] {
    return topology_from(node.at("kind").text(), node.has("parameters") ? node.at("parameters").text() : "");
  });
  const Backbone backbone{node.number_or("backbone_bandwidth_bytes_per_s", 0), node.number_or("backbone_latency_s", 0)};
  auto* one = std::get_if<SingleSwitch>(&topology);  // what other topologies have of it means nothing
  if (one != nullptr && backbone.bandwidth_bytes_per_s > 0) one->backbone = backbone;
}

namespace {

void operations(Walk& walk, const Json& json) {
  std::vector<Key> keys;
  for (const auto& name : message_cost_names) keys.push_back({name, RuleOf<std::vector<Segment>>::check});
  walk.object(json, keys);
}

void capacity(Walk& walk, const Json& json) {
  walk.object(json, {{"bytes_per_s", positive}, {"interval_bytes_per_s", numbers, false}, {"origin", text, false}});
}

void topology(Walk& walk, const Json& json) {
  walk.object(json, {{"kind", text},
                     {"parameters", text, false},
                     {"backbone_bandwidth_bytes_per_s", at_least_zero, false},
                     {"backbone_latency_s", at_least_zero, false}});
}

}  // namespace

template <typename Fields>
static void describe(Fields& fields, ScopeModel& scope) {
  fields("bandwidth_bytes_per_s", scope.bandwidth_bytes_per_s, positive);
  fields.if_any("capacity", scope.capacity, capacity);
  fields("latency_s", scope.latency_s, positive);
  fields.if_any("max_bytes", scope.max_bytes, at_least_zero);
  fields.if_any("half_duplex", scope.half_duplex);
  fields("operations", scope.costs, operations);
  fields.if_any("notes", scope.notes);
}

namespace {

struct Thresholds {
  std::uint64_t async_small_bytes = 0, detached_bytes = 0;
};

template <typename Fields>
void describe(Fields& fields, Thresholds& thresholds) {
  fields("async_small_bytes", thresholds.async_small_bytes);
  fields("detached_bytes", thresholds.detached_bytes);
}

}  // namespace

template <typename Fields>
static void describe(Fields& fields, NetworkModel::Values& values) {
  fields("local", values.local);
  fields.if_any("remote", values.remote);
  Thresholds thresholds{values.async_small_bytes, values.detached_bytes};
  fields("thresholds", thresholds);
  values.async_small_bytes = thresholds.async_small_bytes;
  values.detached_bytes = thresholds.detached_bytes;
  fields("iprobe_s", values.iprobe_s, at_least_zero);
  fields.if_any("growing_probes", values.growing_probes);
  fields.if_any("late_probes", values.late_probes);
  fields("test_s", values.test_s, at_least_zero);
  fields("wtime_s", values.wtime_s, at_least_zero);
  fields.if_given("topology", values.topology, topology);
}

std::vector<Key> detail::network_keys() {
  return keys_of<NetworkModel::Values>();
}

void detail::network_model(Walk& walk, const Json& json) {
  walk.object(json, network_keys());
}

Json detail::to_json(const NetworkModel& model) {
  NetworkModel::Values values = model.values();
  return FieldWriter::json_of(values);
}

NetworkModel detail::network_model_from(const Node& node) {
  return node.made([&] {
    NetworkModel::Values values;
    FieldReader fields(node, false);  // takes what it knows: a fit says more, which the schema of its file allows
    describe(fields, values);
    return NetworkModel::make(std::move(values));
  });
}

}  // namespace hplcast::core
