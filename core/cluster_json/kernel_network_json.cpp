#include "core/cluster_json/cluster_pieces.hpp"
#include "core/cluster_json/schema_walk.hpp"

namespace hplcast::core {

using namespace detail;

// --- laws of kernels ---

HPLCAST_DESCRIPTION(MixtureMode, mode) {
  fields("probability", mode.probability, at_least_zero);
  fields("mean", mode.mean);
  fields("sd", mode.sd, at_least_zero);
}

HPLCAST_DESCRIPTION(FitQuality, quality) {
  HPLCAST_FIELDS(quality, rows, shapes, rows_set_aside, r2, bic, residual_sd_s, mean_abs_relative_error);
  HPLCAST_FIELDS_IF_ANY(quality, mu_standard_errors, mu_t_values, sigma_standard_errors, sigma_t_values, notes);
}

static Json own_json(const Polynomial& polynomial) {
  Json json = Json::object();
  for (std::size_t i = 0; i < polynomial.terms().size(); ++i)
    json[to_string(polynomial.terms()[i])] = polynomial.coefficients()[i];
  return json;
}

static void take_own(const Node& node, Polynomial& polynomial) {
  polynomial = node.made([&] {
    std::vector<Monomial> terms;
    std::vector<double> coefficients;
    for (const auto& [key, value] : node.object().items()) {
      terms.push_back(parse_monomial(key));
      coefficients.push_back(node.at(key.c_str()).number());
    }
    return Polynomial::make(std::move(terms), std::move(coefficients));
  });
}

static void add_law(Json& json, const DurationLaw& law) {
  json["noise"] = to_string(law.noise());
  json["mu"] = own_json(law.mu());
  if (!law.sigma().empty()) json["sigma"] = own_json(law.sigma());
  if (!law.modes().empty()) json["modes"] = FieldWriter::json_of(law.modes());
}

static DurationLaw law_from(const Node& node) {
  return node.made([&] {
    return DurationLaw::make(FieldReader::read<Polynomial>(node.at("mu")),
                             FieldReader::read_if_any<Polynomial>(node, "sigma"),
                             FieldReader::read<NoiseFamily>(node.at("noise")),
                             FieldReader::read_if_any<std::vector<MixtureMode>>(node, "modes"));
  });
}

static Json own_json(const LawPiece& piece) {
  Json json = {{"from", piece.from}};
  add_law(json, piece.law);
  return json;
}

static void take_own(const Node& node, LawPiece& piece) {
  piece = {node.at("from").number(), law_from(node)};
}

/// One law lies flat in `json`; several go under `split` and `pieces`.
static void add_piecewise(Json& json, const PiecewiseLaw& law) {
  if (law.pieces().size() == 1) return add_law(json, law.pieces().front().law);
  json["split"] = to_string(law.split());
  json["pieces"] = FieldWriter::json_of(law.pieces());
}

static PiecewiseLaw piecewise_from(const Node& node) {
  if (!node.has("pieces")) return PiecewiseLaw(law_from(node));
  return node.made([&] {
    return PiecewiseLaw::make(parse_monomial(node.at("split").text()),
                              FieldReader::read<std::vector<LawPiece>>(node.at("pieces")));
  });
}

static Json own_json(const CpuLaw& one) {
  Json json = {{"host", one.host}, {"cpu", one.cpu}};
  add_piecewise(json, one.law);
  return json;
}

static void take_own(const Node& node, CpuLaw& one) {
  one = {node.at("host").integer<int>(), node.at("cpu").integer<int>(), piecewise_from(node)};
}

HPLCAST_DESCRIPTION(ShapeRange, range) {
  const auto size = [&](const char* name, double& min, double& max) {
    std::vector<double> bounds = {min, max};
    fields(name, bounds);
    fields.check(name, bounds.size() == 2 && bounds[0] <= bounds[1], "[smallest, largest]");
    min = bounds.front();
    max = bounds.back();
  };
  size("m", range.min.m, range.max.m);
  size("n", range.min.n, range.max.n);
  size("k", range.min.k, range.max.k);
}

namespace {

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

/// A law lies flat in an object, or in pieces; `keys` are what else the object has.
void law(Walk& walk, const Json& json, std::vector<Key> keys) {
  if (json.is_object() && json.contains("pieces")) {
    keys.push_back({"split", text});
    keys.push_back({"pieces", listed<piece>});
  } else {
    keys.insert(keys.end(), law_keys.begin(), law_keys.end());
  }
  walk.object(json, keys);
}

void cpu_law(Walk& walk, const Json& json) {
  const bool of_kind = json.is_object() && json.contains("kind");
  law(walk, json, {{of_kind ? "kind" : "host", of_kind ? text : count}, {"cpu", count, !of_kind}});
}

}  // namespace

void detail::kernel(Walk& walk, const Json& json) {
  law(walk, json,
      {{"level", text},
       {"overrides", listed<cpu_law>, false},
       {"range", RuleOf<ShapeRange>::check, false},
       {"quality", RuleOf<FitQuality>::check, false}});
}

Json own_json(const KernelModel& model) {
  Json json = {{"level", model.level()}};
  add_piecewise(json, model.cluster_law());
  if (!model.overrides().empty()) json["overrides"] = FieldWriter::json_of(model.overrides());
  if (model.range()) json["range"] = FieldWriter::json_of(*model.range());
  if (model.quality().rows > 0) json["quality"] = FieldWriter::json_of(model.quality());
  return json;
}

void take_own(const Node& node, KernelModel& model) {
  model = node.made([&] {
    return KernelModel::make(node.at("level").text(), piecewise_from(node),
                             FieldReader::read_if_any<std::vector<CpuLaw>>(node, "overrides"),
                             FieldReader::read_if_any<std::optional<ShapeRange>>(node, "range"),
                             FieldReader::read_if_any<FitQuality>(node, "quality"));
  });
}

// --- the network ---

HPLCAST_DESCRIPTION(Segment, segment) {
  fields("min_bytes", segment.min_bytes, at_least_zero);
  HPLCAST_FIELDS(segment, intercept_s, slope_s_per_byte);
  fields.if_any("sd_s", segment.sd_s, at_least_zero);
  fields.if_any("mixture", segment.modes);
  fields.if_any("log_mixture", segment.log_modes);
}

static Json own_json(const SegmentedLaw& law) {
  return FieldWriter::json_of(law.segments());
}

static void take_own(const Node& node, SegmentedLaw& law) {
  law = node.made([&] { return SegmentedLaw::make(FieldReader::read<std::vector<Segment>>(node)); });
}

template <typename Fields>
static void describe(Fields& fields, std::array<SegmentedLaw, message_cost_count>& laws) {
  for (std::size_t i = 0; i < message_cost_count; ++i)
    fields(message_cost_names[i], laws[i], RuleOf<std::vector<Segment>>::check);
}

HPLCAST_DESCRIPTION(LinkCapacity, capacity) {
  std::optional<std::vector<double>> interval;
  if (capacity.low_bytes_per_s > 0) interval = std::vector<double>{capacity.low_bytes_per_s, capacity.high_bytes_per_s};
  fields("bytes_per_s", capacity.bytes_per_s, positive);
  fields.if_any("interval_bytes_per_s", interval);
  fields.check("interval_bytes_per_s", !interval || interval->size() == 2, "two numbers: [low, high]");
  fields.if_given("origin", capacity.origin);
  if (!interval) return;
  capacity.low_bytes_per_s = interval->at(0);
  capacity.high_bytes_per_s = interval->at(1);
}

static Json own_json(const Topology& topology) {
  Json json = {{"kind", kind_of(topology)}};
  const std::string parameters = parameters_of(topology);
  if (!parameters.empty()) json["parameters"] = parameters;
  if (const Backbone* backbone = backbone_of(topology)) {
    json["backbone_bandwidth_bytes_per_s"] = backbone->bandwidth_bytes_per_s;
    json["backbone_latency_s"] = backbone->latency_s;
  }
  const Routing* routing = routing_of(topology);
  if (routing != nullptr && routing->adaptive) json["routing"] = "adaptive";
  if (routing != nullptr && !routing->failed_links.empty()) json["failed_links"] = routing->failed_links;
  if (const auto* groups = std::get_if<HostGroups>(&topology)) {
    json["groups"] = groups->groups;
    json["extra_latency_s"] = groups->extra_latency_s;
    json["bandwidth_share"] = groups->bandwidth_share;
  }
  return json;
}

static void take_routing(const Node& node, Topology& topology) {
  Routing found;
  if (node.has("routing")) {
    const std::string text = node.at("routing").text();
    if (text != "adaptive" && text != "static")
      node.at("routing").fail("found " + text + "; expected adaptive or static");
    found.adaptive = text == "adaptive";
  }
  if (node.has("failed_links")) {
    for (const Node& link : node.at("failed_links").elements()) {
      const auto ends = FieldReader::read<std::vector<unsigned>>(link);
      if (ends.size() != 2) link.fail("expected two numbers: leaf switch and top switch, or two groups");
      found.failed_links.emplace_back(ends[0], ends[1]);
    }
  }
  Routing* routing = routing_of(topology);
  if (routing == nullptr && !found.is_static())
    node.fail(std::string(kind_of(topology)) +
              " has no other routes; adaptive and failed_links are for fat_tree, dragonfly");
  if (routing != nullptr) *routing = std::move(found);
}

static void take_own(const Node& node, Topology& topology) {
  topology = node.made([&] {
    return topology_from(node.at("kind").text(), node.has("parameters") ? node.at("parameters").text() : "");
  });
  const Backbone backbone{node.number_or("backbone_bandwidth_bytes_per_s", 0), node.number_or("backbone_latency_s", 0)};
  auto* one = std::get_if<SingleSwitch>(&topology);  // what other topologies have of it means nothing
  if (one != nullptr && backbone.bandwidth_bytes_per_s > 0) one->backbone = backbone;
  take_routing(node, topology);
  if (auto* groups = std::get_if<HostGroups>(&topology)) {
    groups->groups = FieldReader::read<std::vector<unsigned>>(node.at("groups"));
    groups->extra_latency_s = node.at("extra_latency_s").number();
    groups->bandwidth_share = node.number_or("bandwidth_share", 1);
  } else if (node.has("groups")) {
    node.at("groups").fail("expected none: they are for host_groups");
  }
}

static void topology(Walk& walk, const Json& json) {
  walk.object(json, {{"kind", text},
                     {"parameters", text, false},
                     {"backbone_bandwidth_bytes_per_s", at_least_zero, false},
                     {"backbone_latency_s", at_least_zero, false},
                     {"routing", text, false},
                     {"failed_links", listed<listed<count>>, false},
                     {"groups", listed<count>, false},
                     {"extra_latency_s", at_least_zero, false},
                     {"bandwidth_share", positive, false}});
}

HPLCAST_DESCRIPTION(ScopeModel, scope) {
  fields("bandwidth_bytes_per_s", scope.bandwidth_bytes_per_s, positive);
  fields.if_any("capacity", scope.capacity);
  fields("latency_s", scope.latency_s, positive);
  fields.if_any("max_bytes", scope.max_bytes, at_least_zero);
  fields.if_any("first_use_s_per_byte", scope.first_use_s_per_byte, at_least_zero);
  fields.if_any("half_duplex", scope.half_duplex);
  fields("operations", scope.costs);
  fields.if_any("notes", scope.notes);
}

namespace {

struct Thresholds {
  std::uint64_t async_small_bytes = 0, detached_bytes = 0;
};

HPLCAST_DESCRIBED(Thresholds, async_small_bytes, detached_bytes);

}  // namespace

HPLCAST_DESCRIPTION(Rail, card) {
  fields.if_given("link_share", card.link_share, positive);
  fields.if_any("rate_share", card.rate_share, positive);
  fields.if_any("extra_latency_s", card.extra_latency_s, at_least_zero);
}

HPLCAST_DESCRIPTION(RailReach, reach) {
  HPLCAST_FIELDS(reach, cpu, rail);
  fields.if_any("extra_latency_s", reach.extra_latency_s, at_least_zero);
  fields.if_given("rate_share", reach.rate_share, positive);
}

HPLCAST_DESCRIPTION(Rails, rails) {
  fields("use", rails.use);
  fields.if_any("striped_from_bytes", rails.striped_from_bytes, at_least_zero);
  HPLCAST_FIELDS(rails, cards, near);
  fields.if_any("far", rails.far);
}

HPLCAST_DESCRIPTION(NetworkModel::Values, values) {
  fields("local", values.local);
  fields.if_any("remote", values.remote);
  Thresholds thresholds{values.async_small_bytes, values.detached_bytes};
  fields("thresholds", thresholds);
  values.async_small_bytes = thresholds.async_small_bytes;
  values.detached_bytes = thresholds.detached_bytes;
  fields("iprobe_s", values.iprobe_s, at_least_zero);
  HPLCAST_FIELDS_IF_ANY(values, growing_probes, late_probes);
  fields("test_s", values.test_s, at_least_zero);
  fields("wtime_s", values.wtime_s, at_least_zero);
  fields.if_given("topology", values.topology, topology);
  fields.if_any("rails", values.rails);
}

void detail::network(Walk& walk, const Json& json) {
  walk.object(json, keys_of<NetworkModel::Values>());
}

Json own_json(const NetworkModel& model) {
  return FieldWriter::json_of(model.values());
}

void take_own(const Node& node, NetworkModel& model) {
  model = node.made([&] { return NetworkModel::make(FieldReader::read<NetworkModel::Values>(node)); });
}

}  // namespace hplcast::core
