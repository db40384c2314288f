// Overrides of a whole kind of hosts: in the file one, in memory one of each host.

#include <map>
#include <set>

#include "core/cluster_json/cluster_pieces.hpp"
#include "hplcast/core/cluster_model.hpp"

namespace hplcast::core::detail {

namespace {

constexpr int any_cpu = -1;
constexpr std::size_t most_laws = 1000000;  // of all CPUs and kernels

/// Where overrides may be.
struct OverrideList {
  Node node;     ///< of the list
  Json* list;    ///< the same
  bool per_cpu;  ///< each is of one CPU; else, without a `cpu`, of the host
};

std::vector<OverrideList> override_lists(Json& cluster, const std::string& file) {
  std::vector<OverrideList> result;
  const auto add = [&](Json& owner, const std::string& pointer, bool per_cpu) {
    const auto found = owner.find("overrides");
    if (found != owner.end() && found->is_array())
      result.push_back({Node(*found, file, pointer + "/overrides"), &*found, per_cpu});
  };
  const auto add_all = [&](Json& models, const std::string& pointer) {
    for (auto& [name, model] : models.items()) add(model, pointer + "/" + name, true);
  };
  if (cluster.contains("kernels")) add_all(cluster["kernels"], "/kernels");
  if (cluster.contains("program") && cluster["program"].is_object())
    add_all(cluster["program"]["routines"], "/program/routines");
  if (cluster.contains("power")) add(cluster["power"], "/power", false);
  return result;
}

/// In what was read; the numbers of what is to be written are signed.
int cpu_of(const Node& one) {
  return one.has("cpu") ? one.at("cpu").integer<int>() : any_cpu;
}

int cpu_of(const Json& written) {
  return written.contains("cpu") ? written.at("cpu").get<int>() : any_cpu;
}

int kind_of(const Node& one, const Hosts& hosts) {
  const std::string name = one.at("kind").text();
  for (std::size_t kind = 0; kind < hosts.values().kinds.size(); ++kind)
    if (hosts.values().kinds[kind].name == name) return static_cast<int>(kind);
  one.at("kind").fail("found \"" + name + "\"; expected a kind of /hosts/kinds");
}

/// `laws`: how many there are with those of the lists before.
void expand(const OverrideList& overrides, const Hosts& hosts, std::size_t& laws) {
  Json result = Json::array();
  std::set<std::pair<int, int>> own, of_kinds;  // host or kind, and CPU
  std::vector<std::pair<int, Node>> one_cpu, all_cpus;
  for (const Node& one : overrides.node.elements()) {
    if (!one.has("kind")) {
      own.emplace(one.has("host") ? one.at("host").integer<int>() : Hosts::no_kind, cpu_of(one));
      result.push_back(one.raw());
      continue;
    }
    const int kind = kind_of(one, hosts);
    if (one.has("host")) one.fail("found a host and a kind; expected one of both");
    const int cpu = cpu_of(one), cpus = hosts.values().kinds[static_cast<std::size_t>(kind)].cpus;
    if (cpu >= cpus)
      one.at("cpu").fail("found " + std::to_string(cpu) + "; expected CPUs below " + std::to_string(cpus) +
                         " of kind " + hosts.kind_name(kind));
    if (!of_kinds.emplace(kind, cpu).second) one.fail("kind " + hosts.kind_name(kind) + " twice");
    (one.has("cpu") ? one_cpu : all_cpus).emplace_back(kind, one);
  }
  one_cpu.insert(one_cpu.end(), all_cpus.begin(), all_cpus.end());
  for (const auto& [kind, one] : one_cpu) {
    Json body = one.raw();
    body.erase("kind");
    const int cpu = cpu_of(one);
    const bool every_cpu = cpu == any_cpu && overrides.per_cpu;
    const int cpus = hosts.values().kinds[static_cast<std::size_t>(kind)].cpus;
    std::vector<int> its_hosts;
    for (int host = 0; host < hosts.count(); ++host)
      if (hosts.kind_of(host) == kind) its_hosts.push_back(host);
    laws += its_hosts.size() * static_cast<std::size_t>(every_cpu ? cpus : 1);
    if (laws > most_laws)
      one.fail("the CPUs of its kind and of those before are " + std::to_string(laws) + "; expected at most " +
               std::to_string(most_laws) + " with laws of their own");
    for (const int host : its_hosts) {
      for (int c = every_cpu ? 0 : cpu; c < (every_cpu ? cpus : cpu + 1); ++c) {
        if (!own.emplace(host, c).second) continue;
        body["host"] = static_cast<unsigned>(host);  // as the parser has it
        if (c != any_cpu) body["cpu"] = static_cast<unsigned>(c);
        result.push_back(body);
      }
    }
  }
  *overrides.list = std::move(result);
}

/// The overrides of a kind, by CPU.
struct Alike {
  int hosts = 0;
  bool differ = false;
  Json body;
};

void collect(Json& list, bool per_cpu, const Hosts& hosts) {
  std::vector<int> hosts_of(hosts.values().kinds.size(), 0);
  for (int host = 0; host < hosts.count(); ++host)
    if (const int kind = hosts.kind_of(host); kind != Hosts::no_kind) ++hosts_of[static_cast<std::size_t>(kind)];
  const auto kind_of_one = [&](const Json& one) {
    const int host = one.contains("host") ? one.at("host").get<int>() : hosts.count();
    return host < hosts.count() ? hosts.kind_of(host) : Hosts::no_kind;
  };
  std::map<int, std::map<int, Alike>> kinds;
  for (const Json& one : list) {
    const int kind = kind_of_one(one);
    if (kind == Hosts::no_kind) continue;
    Alike& alike = kinds[kind][cpu_of(one)];
    Json body = one;
    body.erase("host");
    body.erase("cpu");
    if (++alike.hosts == 1)
      alike.body = std::move(body);
    else
      alike.differ = alike.differ || alike.body != body;
  }
  Json result = Json::array();
  for (auto& [kind, by_cpu] : kinds) {
    const auto number = static_cast<std::size_t>(kind);
    const int cpus = hosts.values().kinds[number].cpus;
    for (auto one = by_cpu.begin(); one != by_cpu.end();)
      one = one->second.differ || one->second.hosts < hosts_of[number] ? by_cpu.erase(one) : std::next(one);
    bool all_alike = per_cpu && static_cast<int>(by_cpu.size()) == cpus;
    for (const auto& [cpu, alike] : by_cpu) all_alike = all_alike && alike.body == by_cpu.begin()->second.body;
    for (const auto& [cpu, alike] : by_cpu) {
      Json one = {{"kind", hosts.kind_name(kind)}};
      if (!all_alike && cpu != any_cpu) one["cpu"] = cpu;
      one.update(alike.body);
      result.push_back(std::move(one));
      if (all_alike) break;
    }
  }
  for (Json& one : list) {
    const auto kind = kinds.find(kind_of_one(one));
    if (kind == kinds.end() || kind->second.count(cpu_of(one)) == 0) result.push_back(std::move(one));
  }
  list = std::move(result);
}

}  // namespace

void expand_kinds(Json& cluster, const std::string& file, const Hosts& hosts) {
  std::size_t laws = 0;
  for (const OverrideList& one : override_lists(cluster, file)) expand(one, hosts, laws);
}

void collect_kinds(Json& cluster, const Hosts& hosts) {
  for (const OverrideList& one : override_lists(cluster, "")) collect(*one.list, one.per_cpu, hosts);
}

}  // namespace hplcast::core::detail
