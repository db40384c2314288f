#include "core/base/described_json.hpp"
#include "core/cluster_json/cluster_pieces.hpp"

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
      node.attempt([&, &key = key] { terms.push_back(node.made([&] { return parse_monomial(key); })); });
      coefficients.push_back(FieldReader::read<double>(node.below(value, key)));
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

/// `keys`: what the object has beside the law.
static DurationLaw law_from(const Node& node, std::vector<std::string> keys) {
  return node.made([&] {
    keys.insert(keys.end(), {"noise", "mu", "sigma", "modes"});
    if (node.collects()) refuse_others(node, keys);
    return DurationLaw::make(FieldReader::read<Polynomial>(node, "mu"),
                             FieldReader::read_if_any<Polynomial>(node, "sigma"),
                             FieldReader::read<NoiseFamily>(node, "noise"),
                             FieldReader::read_if_any<std::vector<MixtureMode>>(node, "modes"));
  });
}

static Json own_json(const LawPiece& piece) {
  Json json = {{"from", piece.from}};
  add_law(json, piece.law);
  return json;
}

static void take_own(const Node& node, LawPiece& piece) {
  piece.law = law_from(node, {"from"});
  piece.from = FieldReader::read<double>(node, "from");
}

/// One law lies flat in `json`; several go under `split` and `pieces`.
static void add_piecewise(Json& json, const PiecewiseLaw& law) {
  if (law.pieces().size() == 1) return add_law(json, law.pieces().front().law);
  json["split"] = to_string(law.split());
  json["pieces"] = FieldWriter::json_of(law.pieces());
}

static PiecewiseLaw piecewise_from(const Node& node, std::vector<std::string> keys) {
  if (!node.has("pieces")) return PiecewiseLaw(law_from(node, std::move(keys)));
  return node.made([&] {
    keys.insert(keys.end(), {"split", "pieces"});
    if (node.collects()) refuse_others(node, keys);
    return PiecewiseLaw::make(parse_monomial(FieldReader::read<std::string>(node, "split")),
                              FieldReader::read<std::vector<LawPiece>>(node, "pieces"));
  });
}

static Json own_json(const CpuLaw& one) {
  Json json = {{"host", one.host}, {"cpu", one.cpu}};
  add_piecewise(json, one.law);
  return json;
}

/// One of a kind of hosts is read before expand_kinds() only: while problems are collected.
static void take_own(const Node& node, CpuLaw& one) {
  const bool of_kind = node.collects() && node.has("kind");
  one.law = piecewise_from(node, {of_kind ? "kind" : "host", "cpu"});
  if (of_kind) (void)FieldReader::read<std::string>(node, "kind");
  if (!of_kind) one.host = FieldReader::read<int>(node, "host");
  if (!of_kind || node.has("cpu")) one.cpu = FieldReader::read<int>(node, "cpu");
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
    PiecewiseLaw law = piecewise_from(node, {"level", "overrides", "range", "quality"});
    auto overrides = FieldReader::read_if_any<std::vector<CpuLaw>>(node, "overrides");
    if (node.collects()) overrides.clear();  // those of kinds have no hosts yet
    return KernelModel::make(FieldReader::read<std::string>(node, "level"), std::move(law), std::move(overrides),
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
  for (std::size_t i = 0; i < message_cost_count; ++i) fields(message_cost_names[i], laws[i]);
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
  constexpr const char *bandwidth = "backbone_bandwidth_bytes_per_s", *latency = "backbone_latency_s";
  for (const char* key : {bandwidth, latency, "extra_latency_s"})
    if (node.has(key)) at_least_zero(node.at(key));
  if (node.has("bandwidth_share")) positive(node.at("bandwidth_share"));
  topology = node.made([&] {
    refuse_others(node, {"kind", "parameters", bandwidth, latency, "routing", "failed_links", "groups",
                         "extra_latency_s", "bandwidth_share"});
    return topology_from(node.at("kind").text(), node.has("parameters") ? node.at("parameters").text() : "");
  });
  const Backbone backbone{node.number_or(bandwidth, 0), node.number_or(latency, 0)};
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

HPLCAST_DESCRIPTION(ScopeModel, scope) {
  fields("bandwidth_bytes_per_s", scope.bandwidth_bytes_per_s, positive);
  fields.if_any("capacity", scope.capacity);
  fields("latency_s", scope.latency_s, positive);
  HPLCAST_RULED_IF_ANY(at_least_zero, scope, max_bytes, first_use_s_per_byte, exchange_s, exchange_s_per_byte);
  fields.if_any("half_duplex", scope.half_duplex);
  fields("operations", scope.costs);
  HPLCAST_FIELDS_IF_ANY(scope, panels, notes);
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
  HPLCAST_RULED(at_least_zero, values, test_s, wtime_s);
  fields.if_given("topology", values.topology);
  fields.if_any("rails", values.rails);
}

Json own_json(const NetworkModel& model) {
  return FieldWriter::json_of(model.values());
}

void take_own(const Node& node, NetworkModel& model) {
  model = node.made([&] { return NetworkModel::make(FieldReader::read<NetworkModel::Values>(node)); });
}

}  // namespace hplcast::core
