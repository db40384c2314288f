#include <algorithm>
#include <ostream>
#include <sstream>

#include "core/cluster_json/cluster_pieces.hpp"
#include "core/cluster_json/schema_walk.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

using detail::FieldReader;
using detail::FieldWriter;
using detail::Json;
using detail::Node;
using detail::Walk;

static Json own_json(const RankToCpu& map) {
  if (map.kind == RankToCpu::Kind::list) return map.list;
  return map.kind == RankToCpu::Kind::block ? "block" : "cyclic";
}

static void take_own(const Node& node, RankToCpu& map) {
  if (node.raw().is_array()) {
    map.kind = RankToCpu::Kind::list;
    FieldReader(node, false).take(node, map.list);
    return;
  }
  const std::string text = node.text();
  if (text != "block" && text != "cyclic")
    node.fail("found \"" + text + "\"; expected block, cyclic or a list of CPUs");
  map.kind = text == "block" ? RankToCpu::Kind::block : RankToCpu::Kind::cyclic;
}

static void rank_to_cpu(Walk& walk, const Json& json) {
  if (json.is_array()) return walk.list(json, detail::count);
  text(walk, json);
}

template <typename Fields>
static void describe(Fields& fields, Hosts::Values& values) {
  fields("names", values.names);
  fields("cores", values.cores);
  fields("cpus", values.cpus);
  fields.if_given("rank_to_cpu", values.rank_to_cpu, rank_to_cpu);
  fields.if_any("memory_bytes", values.memory_bytes, detail::at_least_zero);
}

void detail::hosts(Walk& walk, const Json& json) {
  walk.object(json, keys_of<Hosts::Values>());
}

namespace {

void check_overrides(const Node& node, const KernelModel& model, const Hosts& hosts) {
  for (const CpuLaw& one : model.overrides()) {
    if (one.host >= hosts.count() || one.cpu >= hosts.values().cpus) {
      node.at("overrides")
          .fail("host " + std::to_string(one.host) + " cpu " + std::to_string(one.cpu) + "; expected hosts below " +
                std::to_string(hosts.count()) + " and CPUs below " + std::to_string(hosts.values().cpus));
    }
  }
}

Json to_json(const DetourDuration& duration) {
  return std::visit(
      [](const auto& one) {
        Json json = {{"law", one.kind}};
        Visitor{[&](const ConstantDuration& law) { json["mean_s"] = law.constant_s; },
                [&](const ExponentialDuration& law) { json["mean_s"] = law.expected_s; },
                [&](const UniformDuration& law) {
                  json["least_s"] = law.least_s;
                  json["most_s"] = law.most_s;
                },
                [&](const QuantileDuration& law) { json["quantiles_s"] = law.quantiles_s; }}(one);
        return json;
      },
      duration);
}

DetourDuration duration_from(const Node& node) {
  const std::string law = node.at("law").text();
  const auto only = [&](std::initializer_list<const char*> keys) {
    for (const auto& [key, value] : node.object().items()) {
      const bool known = key == "law" || std::find(keys.begin(), keys.end(), key) != keys.end();
      if (!known && !value.is_null()) node.at(key.c_str()).fail("not a parameter of the law " + law);
    }
  };
  if (law == ConstantDuration::kind) {
    only({"mean_s"});
    return ConstantDuration{node.at("mean_s").number()};
  }
  if (law == ExponentialDuration::kind) {
    only({"mean_s"});
    return ExponentialDuration{node.at("mean_s").number()};
  }
  if (law == UniformDuration::kind) {
    only({"least_s", "most_s"});
    return UniformDuration{node.at("least_s").number(), node.at("most_s").number()};
  }
  if (law == QuantileDuration::kind) {
    only({"quantiles_s"});
    return QuantileDuration{node.at("quantiles_s").numbers()};
  }
  node.at("law").fail("found \"" + law + "\"; expected constant, exponential, uniform or quantiles");
}

Json to_json(const DetourSource& source) {
  const DetourSource::Values& values = source.values();
  Json json = {{"name", values.name}, {"kind", source.kind()}, {"period_s", values.period_s}};
  std::visit(Visitor{[&](const PeriodicDetours& times) {
                       if (times.jitter_s > 0) json["jitter_s"] = times.jitter_s;
                       if (times.phase_s) json["phase_s"] = *times.phase_s;
                     },
                     [](const PoissonDetours&) {}},
             values.times);
  json["duration"] = to_json(values.duration);
  json["per"] = to_string(values.per);
  json["in_kernels"] = values.in_kernels;
  if (!values.cores.empty()) json["cores"] = values.cores;
  return json;
}

DetourTimes times_from(const Node& node) {
  const std::string kind = node.at("kind").text();
  if (kind == PeriodicDetours::kind) {
    PeriodicDetours times{node.number_or("jitter_s", 0), std::nullopt};
    if (node.has("phase_s")) times.phase_s = node.at("phase_s").number();
    return times;
  }
  if (kind != PoissonDetours::kind) node.at("kind").fail("found \"" + kind + "\"; expected periodic or poisson");
  if (node.number_or("jitter_s", 0) != 0) node.at("jitter_s").fail("only of periodic detours; these are poisson");
  if (node.has("phase_s")) node.at("phase_s").fail("only of periodic detours; these are poisson");
  return PoissonDetours();
}

std::vector<int> cores_from(const Node& list) {
  std::vector<int> cores;
  for (std::size_t i = 0; i < list.size_of_array(); ++i) cores.push_back(list.at(i).integer<int>());
  if (cores.empty()) list.fail("found none; expected numbers of cores, or no `cores` at all: all of a host");
  return cores;
}

DetourSource source_from(const Node& node) {
  const Node per = node.at("per");
  DetourSource::Values values{node.at("name").text(),
                              times_from(node),
                              node.at("period_s").number(),
                              duration_from(node.at("duration")),
                              per.made([&] { return detours_per_from_name(per.text()); }),
                              node.has("in_kernels") && node.at("in_kernels").boolean()};
  if (node.has("cores")) values.cores = cores_from(node.at("cores"));
  return node.made([&] { return DetourSource::make(std::move(values)); });
}

Json to_json(const std::vector<DetourSource>& sources) {
  Json list = Json::array();
  for (const DetourSource& source : sources) list.push_back(to_json(source));
  return list;
}

std::vector<DetourSource> detours_from(const Node& list) {
  std::vector<DetourSource> sources;
  for (std::size_t i = 0; i < list.size_of_array(); ++i) sources.push_back(source_from(list.at(i)));
  list.made([&] { check_detours(sources); });
  return sources;
}

Json to_json(const ClusterModel& cluster) {
  Hosts::Values hosts = cluster.hosts.values();
  Json json = {
      {"schema_version", ClusterModel::schema_version}, {"name", cluster.name}, {"hosts", FieldWriter::json_of(hosts)}};
  Json& kernels = json["kernels"] = Json::object();
  for (const auto& [name, model] : cluster.kernels) kernels[name] = own_json(model);
  json["network"] = detail::to_json(cluster.network);
  if (cluster.power) json["power"] = detail::to_json(*cluster.power);
  if (!cluster.detours.empty()) json["detours"] = to_json(cluster.detours);
  if (cluster.program) json["program"] = detail::to_json(*cluster.program);
  json["provenance"] = parse_json<Json>(cluster.provenance.empty() ? "{}" : cluster.provenance);
  return json;
}

}  // namespace

void write_cluster(std::ostream& out, const ClusterModel& cluster) {
  out << json_text(to_json(cluster), 2) << '\n';
}

ClusterModel read_cluster(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  root.object();
  detail::check_schema(root, ClusterModel::oldest_schema_version, ClusterModel::schema_version);
  detail::require_none(detail::schema_problems(json), name);
  ClusterModel cluster;
  cluster.name = root.at("name").text();
  const Node hosts = root.at("hosts");
  cluster.hosts = hosts.made([&] { return Hosts::make(FieldReader::whole<Hosts::Values>(hosts)); });
  const Node kernels = root.at("kernels");
  for (const auto& [key, value] : kernels.object().items()) {
    const Node node = kernels.at(key.c_str());
    take_own(node, cluster.kernels[key]);
    check_overrides(node, cluster.kernels[key], cluster.hosts);
  }
  cluster.network = detail::network_model_from(root.at("network"));
  if (root.has("power")) {
    const Node power = root.at("power");
    cluster.power = detail::power_from(power, cluster.hosts.values().cores);
    power.made([&] { check_power(*cluster.power, cluster.hosts); });
  }
  if (root.has("detours")) {
    const Node detours = root.at("detours");
    cluster.detours = detours_from(detours);
    detours.made([&] { check_detour_cores(cluster.detours, cluster.hosts.values().cores); });
  }
  if (root.has("program")) {
    const Node program = root.at("program");
    cluster.program = detail::program_model_from(program);
    for (const auto& [routine, model] : cluster.program->routines)
      check_overrides(program.at("routines").at(routine.c_str()), model, cluster.hosts);
  }
  cluster.provenance = root.has("provenance") ? json_text(root.at("provenance").object()) : "{}";
  return cluster;
}

std::string cluster_sha256(const ClusterModel& cluster) {
  std::ostringstream text;
  write_cluster(text, cluster);
  return sha256_hex(text.str());
}

std::string kernel_model_json(const KernelModel& model) {
  return json_text(own_json(model), 2);
}

std::string network_model_json(const NetworkModel& model) {
  return json_text(detail::to_json(model), 2);
}

std::map<std::string, KernelModel> read_kernel_models(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  detail::require_none(detail::kernels_schema_problems(json), name);
  std::map<std::string, KernelModel> models;
  for (const auto& [key, value] : root.object().items()) take_own(root.at(key.c_str()), models[key]);
  return models;
}

NetworkModel read_network_model(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  detail::require_none(detail::network_schema_problems(json), name);
  return detail::network_model_from(Node(json, name));
}

std::string read_provenance(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  return json_text(Node(json, name).object());
}

std::string detours_json(const std::vector<DetourSource>& sources) {
  return Json({{"detours", to_json(sources)}}).dump(2);
}

std::vector<DetourSource> read_detours(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  detail::refuse_cluster(Node(json, name), "what `hplcast fit detours -o` writes");
  detail::require_none(detail::detours_schema_problems(json), name);
  return detours_from(Node(json, name).at("detours"));
}

}  // namespace hplcast::core
