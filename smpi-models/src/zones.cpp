#include "zones.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/smpi_network.hpp"
#include "simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

using Numbers = std::vector<unsigned long>;

constexpr double core_speed_flop_per_s = 1e9;  // as in platform.xml; kernels take the time of their models

/// Makes the hosts of a cluster and their links, inside whatever zone.
class HostBuilder {
 public:
  explicit HostBuilder(const core::ClusterModel& cluster) : cluster_(cluster) {}

  s4u::Host* host(s4u::NetZone* zone, const std::string& name) const {
    s4u::Host* host = port::add_host(zone, name, core_speed_flop_per_s)->set_core_count(cluster_.hosts.values().cores);
    if (cluster_.power) {
      const core::PowerModel& power = *cluster_.power;
      host->set_property("wattage_per_state", core::shortest(power.idle_w) + ":" + core::shortest(power.one_core_w) +
                                                  ":" + core::shortest(power.all_cores_w));
      host->set_property("wattage_off", core::shortest(power.off_w));
    }
    return host->seal();
  }

  s4u::Link* loopback(s4u::NetZone* zone, const std::string& name) const {
    const core::ScopeModel& local = cluster_.network.scope(core::Scope::local);
    return port::add_link(zone, name + "_loopback", local.link_bytes_per_s())
        ->set_sharing_policy(local.capacity ? s4u::Link::SharingPolicy::SHARED : s4u::Link::SharingPolicy::FATPIPE)
        ->set_latency(route_latency_s)
        ->seal();
  }

  const core::ClusterModel& cluster() const { return cluster_; }

 private:
  const core::ClusterModel& cluster_;
};

s4u::NetZone* single_switch(const HostBuilder& builder) {
  const core::ClusterModel& cluster = builder.cluster();
  const core::ScopeModel& remote = cluster.network.scope(core::Scope::remote);
  s4u::NetZone* zone = port::make_star(cluster.name);
  const core::Topology& topology = cluster.network.values().topology;
  const s4u::Link* backbone = nullptr;
  if (topology.backbone_bandwidth_bytes_per_s > 0) {
    backbone = port::add_link(zone, "backbone", topology.backbone_bandwidth_bytes_per_s)->set_latency(0)->seal();
  }
  for (const std::string& name : cluster.hosts.names()) {
    const s4u::Host* host = builder.host(zone, name);
    port::add_route(zone, host, host, {s4u::LinkInRoute(builder.loopback(zone, name))});
    const s4u::Link* link = port::add_split_duplex_link(zone, name + "_link", remote.link_bytes_per_s())
                                ->set_latency(route_latency_s / 2)
                                ->seal();
    std::vector<s4u::LinkInRoute> route{{link, s4u::LinkInRoute::Direction::UP}};
    if (backbone != nullptr) route.emplace_back(backbone);
    port::add_route(zone, host, nullptr, route);
  }
  return zone;
}

/// "4,8;1,2" to {{4, 8}, {1, 2}}.
std::vector<Numbers> parse_lists(const core::Topology& topology, std::size_t count, const char* form) {
  const auto fail = [&] { return core::DomainError("topology.parameters", topology.parameters, form); };
  std::vector<Numbers> lists;
  std::istringstream all(topology.parameters);
  for (std::string part; std::getline(all, part, ';');) {
    lists.emplace_back();
    std::istringstream list(part);
    for (std::string item; std::getline(list, item, ',');) {
      double number = 0;
      if (!core::parse_double(item, number) || !(number >= 1) || number > 1e6) throw fail();
      lists.back().push_back(static_cast<unsigned long>(number));
    }
  }
  if (lists.size() != count) throw fail();
  for (const Numbers& list : lists) {
    if (list.empty()) throw fail();
  }
  return lists;
}

std::vector<unsigned> to_unsigned(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

void require_leaves(const core::ClusterModel& cluster, unsigned long leaves) {
  if (leaves != static_cast<unsigned long>(cluster.hosts.count())) {
    throw core::DomainError(
        "topology.parameters", cluster.network.values().topology.parameters,
        "a network of " + std::to_string(cluster.hosts.count()) + " hosts, found one of " + std::to_string(leaves));
  }
}

unsigned long product(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1UL, [](unsigned long a, unsigned long b) { return a * b; });
}

FatTree fat_tree(const core::ClusterModel& cluster) {
  constexpr const char* form = "levels;children per level;parents per level;links per level, such as 2;16,2;1,4;1,1";
  const core::Topology& topology = cluster.network.values().topology;
  const std::vector<Numbers> lists = parse_lists(topology, 4, form);
  const auto levels = static_cast<unsigned>(lists[0][0]);
  if (lists[0].size() != 1 || lists[1].size() != levels || lists[2].size() != levels || lists[3].size() != levels) {
    throw core::DomainError("topology.parameters", topology.parameters, form);
  }
  require_leaves(cluster, product(lists[1]));
  return {levels, to_unsigned(lists[1]), to_unsigned(lists[2]), to_unsigned(lists[3])};
}

Dragonfly dragonfly(const core::ClusterModel& cluster) {
  constexpr const char* form = "groups,links;chassis,links;routers,links;nodes, such as 3,4;3,2;3,1;2";
  const core::Topology& topology = cluster.network.values().topology;
  const std::vector<Numbers> lists = parse_lists(topology, 4, form);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() != (i < 3 ? 2U : 1U)) throw core::DomainError("topology.parameters", topology.parameters, form);
  }
  require_leaves(cluster, lists[0][0] * lists[1][0] * lists[2][0] * lists[3][0]);
  // SimGrid crashes otherwise: it looks for the link to group i at router i of a chassis.
  if (lists[0][0] > lists[2][0]) {
    throw core::DomainError("topology.parameters", topology.parameters,
                            "at most as many groups as a chassis has routers, found " + std::to_string(lists[0][0]) +
                                " groups and " + std::to_string(lists[2][0]) + " routers");
  }
  const auto level = [&](std::size_t i) {
    return std::pair(static_cast<unsigned>(lists[i][0]), static_cast<unsigned>(lists[i][1]));
  };
  return {level(0), level(1), level(2), static_cast<unsigned>(lists[3][0])};
}

Hierarchy hierarchy_of(const core::ClusterModel& cluster) {
  const core::Topology& topology = cluster.network.values().topology;
  if (topology.kind == "fat_tree") return fat_tree(cluster);
  if (topology.kind == "dragonfly") return dragonfly(cluster);
  const Numbers dimensions = parse_lists(topology, 1, "dimensions such as 4,4,2").front();
  require_leaves(cluster, product(dimensions));
  return Torus{dimensions};
}

s4u::NetZone* hierarchical(const HostBuilder& builder) {
  const core::ClusterModel& cluster = builder.cluster();
  const auto name = [&cluster](unsigned long id) -> const std::string& { return cluster.hosts.names().at(id); };
  const port::Leaves leaves{
      [&builder, name](s4u::NetZone* zone, unsigned long id) { return builder.host(zone, name(id)); },
      [&builder, name](s4u::NetZone* zone, unsigned long id) { return builder.loopback(zone, name(id)); }};
  return port::make_hierarchy(cluster.name, hierarchy_of(cluster), leaves,
                              cluster.network.scope(core::Scope::remote).link_bytes_per_s(), route_latency_s / 2);
}

/// Ways that lead away from a host: on a fat tree the number of the destination says which of them a route takes.
std::size_t ways_up(const core::ClusterModel& cluster) {
  if (cluster.network.values().topology.kind != "fat_tree") return 1;
  const FatTree tree = fat_tree(cluster);
  return static_cast<std::size_t>(tree.parents.front()) * tree.links.front();
}

/// Where the first and the last link of every route belong to hosts, these have all of its latency.
void leave_latency_to_host_links(const core::ClusterModel& cluster) {
  const std::vector<std::string>& names = cluster.hosts.names();
  const std::size_t others = std::min(ways_up(cluster), names.size() - 1);
  std::set<s4u::Link*> of_hosts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t other = 1; other <= others; ++other) {
      std::vector<s4u::Link*> route;
      s4u::Host::by_name(names[i])->route_to(s4u::Host::by_name(names[(i + other) % names.size()]), route, nullptr);
      of_hosts.insert({route.front(), route.back()});
    }
  }
  for (s4u::Link* link : s4u::Engine::get_instance()->get_all_links()) {
    if (link->get_latency() == route_latency_s / 2 && of_hosts.count(link) == 0) link->set_latency(0);
  }
}

}  // namespace

s4u::NetZone* build_zone(const core::ClusterModel& cluster) {
  const HostBuilder builder(cluster);
  const std::string& kind = cluster.network.values().topology.kind;
  s4u::NetZone* zone = kind == "single_switch" ? single_switch(builder) : hierarchical(builder);
  zone->seal();
  if (kind == "fat_tree" || kind == "dragonfly") leave_latency_to_host_links(cluster);
  return zone;
}

double latency_factor(const core::Topology& topology, const core::MessageFlow& flow, std::size_t links) noexcept {
  // A route as it was measured has two links; on a torus SimGrid itself counts them.
  const bool by_links = links > 1 && (topology.kind == "fat_tree" || topology.kind == "dragonfly");
  // There a flow without latency would weigh less or more than others: far below the rounding of any clock, it has
  // some.
  const double least_s = topology.kind == "torus" ? 1e-21 : 0;
  return std::max(flow.latency_s, least_s) / route_latency_s * (by_links ? static_cast<double>(links) / 2 : 1);
}

}  // namespace hplcast::smpi_models
