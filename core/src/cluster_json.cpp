#include "hplcast/core/cluster_json.hpp"

#include <ostream>
#include <sstream>

#include "cluster_schema.hpp"
#include "detours_json.hpp"
#include "hplcast/core/files.hpp"
#include "kernel_json.hpp"
#include "power_json.hpp"
#include "program_json.hpp"

namespace hplcast::core {

using detail::Json;
using detail::Node;

namespace {

Json to_json(const Hosts& hosts) {
  const Hosts::Values& values = hosts.values();
  Json json = {{"names", values.names}, {"cores", values.cores}, {"cpus", values.cpus}};
  switch (values.rank_to_cpu.kind) {
    case RankToCpu::Kind::block:
      json["rank_to_cpu"] = "block";
      break;
    case RankToCpu::Kind::cyclic:
      json["rank_to_cpu"] = "cyclic";
      break;
    case RankToCpu::Kind::list:
      json["rank_to_cpu"] = values.rank_to_cpu.list;
      break;
  }
  if (values.memory_bytes > 0) json["memory_bytes"] = values.memory_bytes;
  return json;
}

RankToCpu rank_to_cpu_from(const Node& node) {
  RankToCpu map;
  if (node.raw().is_array()) {
    map.kind = RankToCpu::Kind::list;
    for (std::size_t i = 0; i < node.size_of_array(); ++i) map.list.push_back(node.at(i).integer<int>());
    return map;
  }
  const std::string text = node.text();
  if (text != "block" && text != "cyclic")
    node.fail("found \"" + text + "\"; expected block, cyclic or a list of CPUs");
  map.kind = text == "block" ? RankToCpu::Kind::block : RankToCpu::Kind::cyclic;
  return map;
}

Hosts hosts_from(const Node& node) {
  return node.made([&] {
    return Hosts::make({node.at("names").text(), node.at("cores").integer<int>(), node.at("cpus").integer<int>(),
                        node.has("rank_to_cpu") ? rank_to_cpu_from(node.at("rank_to_cpu")) : RankToCpu(),
                        node.number_or("memory_bytes", 0)});
  });
}

void check_overrides(const Node& node, const KernelModel& model, const Hosts& hosts) {
  for (const CpuLaw& one : model.overrides()) {
    if (one.host >= hosts.count() || one.cpu >= hosts.values().cpus) {
      node.at("overrides")
          .fail("host " + std::to_string(one.host) + " cpu " + std::to_string(one.cpu) + "; expected hosts below " +
                std::to_string(hosts.count()) + " and CPUs below " + std::to_string(hosts.values().cpus));
    }
  }
}

Json to_json(const ClusterModel& cluster) {
  Json json = {
      {"schema_version", ClusterModel::schema_version}, {"name", cluster.name}, {"hosts", to_json(cluster.hosts)}};
  Json& kernels = json["kernels"] = Json::object();
  for (const auto& [name, model] : cluster.kernels) kernels[name] = detail::to_json(model);
  json["network"] = detail::to_json(cluster.network);
  if (cluster.power) json["power"] = detail::to_json(*cluster.power);
  if (!cluster.detours.empty()) json["detours"] = detail::to_json(cluster.detours);
  if (cluster.program) json["program"] = detail::to_json(*cluster.program);
  json["provenance"] = Json::parse(cluster.provenance.empty() ? "{}" : cluster.provenance);
  return json;
}

}  // namespace

void write_cluster(std::ostream& out, const ClusterModel& cluster) {
  out << to_json(cluster).dump(2) << '\n';
}

ClusterModel read_cluster(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  root.object();
  detail::check_schema(root, ClusterModel::oldest_schema_version, ClusterModel::schema_version);
  detail::require_none(detail::schema_problems(json), name);
  ClusterModel cluster;
  cluster.name = root.at("name").text();
  cluster.hosts = hosts_from(root.at("hosts"));
  const Node kernels = root.at("kernels");
  for (const auto& [key, value] : kernels.object().items()) {
    const Node node = kernels.at(key.c_str());
    cluster.kernels[key] = detail::kernel_model_from(node);
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
    cluster.detours = detail::detours_from(detours);
    detours.made([&] { check_detour_cores(cluster.detours, cluster.hosts.values().cores); });
  }
  if (root.has("program")) {
    const Node program = root.at("program");
    cluster.program = detail::program_model_from(program);
    for (const auto& [routine, model] : cluster.program->routines)
      check_overrides(program.at("routines").at(routine.c_str()), model, cluster.hosts);
  }
  cluster.provenance = root.has("provenance") ? root.at("provenance").object().dump() : "{}";
  return cluster;
}

std::string cluster_sha256(const ClusterModel& cluster) {
  std::ostringstream text;
  write_cluster(text, cluster);
  return sha256_hex(text.str());
}

std::string kernel_model_json(const KernelModel& model) {
  return detail::to_json(model).dump(2);
}

std::string network_model_json(const NetworkModel& model) {
  return detail::to_json(model).dump(2);
}

std::map<std::string, KernelModel> read_kernel_models(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  const Node root(json, name);
  detail::require_none(detail::kernels_schema_problems(json), name);
  std::map<std::string, KernelModel> models;
  for (const auto& [key, value] : root.object().items()) models[key] = detail::kernel_model_from(root.at(key.c_str()));
  return models;
}

NetworkModel read_network_model(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  detail::require_none(detail::network_schema_problems(json), name);
  return detail::network_model_from(Node(json, name));
}

std::string read_provenance(std::istream& in, const std::string& name) {
  const Json json = detail::parse_json(in, name);
  return Node(json, name).object().dump();
}

}  // namespace hplcast::core
