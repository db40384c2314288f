#include "kernel_json.hpp"

namespace hplcast::core::detail {

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
