#include "smpi-models/platform/platform.hpp"

#include <smpi/smpi.h>
#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "smpi-models/session/c_boundary.hpp"
#include "smpi-models/session/session.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

namespace s4u = simgrid::s4u;

namespace {

constexpr double core_speed_flop_per_s = 1e9;  // as in platform.xml; kernels take the time of their models

/// A host's, or that of a place on a fat tree that no host has.
std::string name_of(const core::ClusterModel& cluster, std::size_t index) {
  const std::vector<std::string>& names = cluster.hosts.names();
  return index < names.size() ? names[index] : cluster.name + "_free_" + std::to_string(index - names.size());
}

s4u::Host* add_host(const core::ClusterModel& cluster, s4u::NetZone* zone, std::size_t index) {
  const std::string name = name_of(cluster, index);
  if (index >= cluster.hosts.names().size()) {
    s4u::Host* free = port::add_host(zone, name, {core_speed_flop_per_s});
    if (cluster.power) free->set_property("wattage_per_state", "0:0:0");
    return free->seal();
  }
  core::SimgridPstates states{{1}, "", 0};
  if (cluster.power) states = core::simgrid_pstates(*cluster.power, cluster.hosts, static_cast<int>(index));
  for (double& speed : states.speeds) speed *= core_speed_flop_per_s;
  s4u::Host* host =
      port::add_host(zone, name, states.speeds)->set_core_count(cluster.hosts.cores_of(static_cast<int>(index)));
  if (cluster.power) {
    host->set_property("wattage_per_state", states.wattage_per_state);
    host->set_property("wattage_off", core::shortest(states.off_w));
  }
  return host->seal();
}

s4u::Link* add_loopback(const core::ClusterModel& cluster, s4u::NetZone* zone, std::size_t index) {
  const core::ScopeModel& local = cluster.network.scope(core::Scope::local);
  return port::add_link(zone, name_of(cluster, index) + "_loopback", local.link_bytes_per_s())
      ->set_sharing_policy(local.capacity ? s4u::Link::SharingPolicy::SHARED : s4u::Link::SharingPolicy::FATPIPE)
      ->set_latency(route_latency_s)
      ->seal();
}

s4u::NetZone* single_switch(const core::ClusterModel& cluster, const core::SingleSwitch& topology) {
  const core::ScopeModel& remote = cluster.network.scope(core::Scope::remote);
  s4u::NetZone* zone = port::make_star(cluster.name);
  const s4u::Link* backbone = nullptr;
  if (topology.backbone)
    backbone = port::add_link(zone, "backbone", topology.backbone->bandwidth_bytes_per_s)->set_latency(0)->seal();
  for (std::size_t index = 0; index < cluster.hosts.names().size(); ++index) {
    const s4u::Host* host = add_host(cluster, zone, index);
    port::add_route(zone, host, host, {s4u::LinkInRoute(add_loopback(cluster, zone, index))});
    const std::string name = cluster.hosts.names()[index] + "_link";
    const double bytes_per_s = remote.link_bytes_per_s() * cluster.hosts.link_share_of(static_cast<int>(index));
    const s4u::Link* link =
        port::add_split_duplex_link(zone, name, bytes_per_s)->set_latency(route_latency_s / 2)->seal();
    std::vector<s4u::LinkInRoute> route{{link, s4u::LinkInRoute::Direction::UP}};
    if (backbone != nullptr) route.emplace_back(backbone);
    port::add_route(zone, host, nullptr, route);
  }
  return zone->seal();
}

s4u::NetZone* hierarchical(const core::ClusterModel& cluster, const port::Hierarchy& hierarchy) {
  const port::Leaves leaves{
      [&cluster](s4u::NetZone* zone, unsigned long id) { return add_host(cluster, zone, id); },
      [&cluster](s4u::NetZone* zone, unsigned long id) { return add_loopback(cluster, zone, id); }};
  const double bytes_per_s = cluster.network.scope(core::Scope::remote).link_bytes_per_s();
  return port::make_hierarchy(cluster.name, hierarchy, leaves, bytes_per_s, route_latency_s / 2)->seal();
}

/// As `hierarchical`, where the first and the last link of every route belong to hosts: these have all of its latency.
/// `ways`: that lead away from a host. On a fat tree the number of the destination says which of them a route takes.
s4u::NetZone* with_host_links(const core::ClusterModel& cluster, const port::Hierarchy& hierarchy, std::size_t ways) {
  s4u::NetZone* zone = hierarchical(cluster, hierarchy);
  const std::vector<std::string>& names = cluster.hosts.names();
  // Twice: where numbers begin again, those on one side have all ways among them.
  const std::size_t others = std::min(2 * ways, names.size() - 1);
  std::set<s4u::Link*> of_hosts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t other = 1; other <= others; ++other) {
      std::vector<s4u::Link*> route;
      s4u::Host::by_name(names[i])->route_to(s4u::Host::by_name(names[(i + other) % names.size()]), route, nullptr);
      of_hosts.insert({route.front(), route.back()});
    }
  }
  for (s4u::Link* link : s4u::Engine::get_instance()->get_all_links())
    if (link->get_latency() == route_latency_s / 2 && of_hosts.count(link) == 0) link->set_latency(0);
  return zone;
}

/// The hosts and links of a cluster as the root zone of the platform, with the names that platform.xml gives them.
s4u::NetZone* build_zone(const core::ClusterModel& cluster) {
  return core::visit_topology(
      cluster.network.values().topology, [&](const core::SingleSwitch& one) { return single_switch(cluster, one); },
      [&](const core::HostGroups&) { return single_switch(cluster, {}); },
      [&](const core::FatTree& tree) {
        return with_host_links(cluster, tree, static_cast<std::size_t>(tree.parents.front()) * tree.links.front());
      },
      [&](const core::Dragonfly& fly) { return with_host_links(cluster, fly, 1); },
      [&](const core::Torus& torus) { return hierarchical(cluster, torus); });
}

}  // namespace

double latency_factor(const core::Topology& topology, const core::MessageFlow& flow, std::size_t links) noexcept {
  // A route as it was measured has two links.
  const double by_links = links > 1 ? static_cast<double>(links) / 2 : 1;
  const double factor = flow.latency_s / route_latency_s;
  return core::visit_topology(
      topology, [&](const core::SingleSwitch&) { return factor; }, [&](const core::HostGroups&) { return factor; },
      [&](const core::FatTree&) { return factor * by_links; },
      [&](const core::Dragonfly&) { return factor * by_links; },
      // SimGrid itself counts the links. A flow without latency would weigh less or more than others:
      // far below the rounding of any clock, it has some.
      [&](const core::Torus&) { return std::max(flow.latency_s, 1e-21) / route_latency_s; });
}

namespace {

/// Addition to that factor for a delay before the flow, whatever the number of links.
double delay_factor(const core::Topology& topology, double delay_s, core::Scope scope, std::size_t links) noexcept {
  if (scope == core::Scope::local) return delay_s / route_latency_s;
  const double latency_s = core::visit_topology(
      topology, [](const core::SingleSwitch&) { return route_latency_s; },
      [](const core::HostGroups&) { return route_latency_s; }, [](const core::FatTree&) { return route_latency_s; },
      [](const core::Dragonfly&) { return route_latency_s; },
      [&](const core::Torus&) { return route_latency_s / 2 * static_cast<double>(links); });
  return delay_s / latency_s;
}

/// The callbacks that SimGrid and SMPI hold. They ask for one cost of a message at a time: messages of SMPI have their
/// names by the order in which they are asked for.
class Callbacks {
 public:
  Callbacks(const core::Hosts& hosts, PlatformCosts& platform)
      : costs_(platform.costs), smpi_messages_(platform.smpi_messages) {
    for (const std::string& name : hosts.names())
      hosts_.emplace(s4u::Host::by_name(name), Counts{static_cast<std::uint32_t>(hosts_.size()), {}});
  }

  /// `source` is null if the sender has ended before the receive is made: SMPI then no longer knows its host. Taken for
  /// another one.
  double overhead_s(core::MessageCost which, double size_bytes, const s4u::Host* source, const s4u::Host* destination) {
    const MessageName name = next(source == nullptr ? destination : source, static_cast<std::size_t>(which));
    return costs_.overhead_s(which, scope_of(source, destination), size_bytes, &name);
  }

  double latency_factor(const port::FactorQuestion& asked) {
    const core::Topology& topology = costs_.topology();
    if (const auto announced = session().announced_flows.answer(asked.source, asked.destination, asked.wire_bytes))
      return smpi_models::latency_factor(topology, announced->as, asked.links) +
             delay_factor(topology, announced->delay_s, scope_of(asked.source, asked.destination), asked.links);
    smpi_messages_.add(std::max(0.0, asked.wire_bytes - core::smpi_envelope_bytes));
    return smpi_models::latency_factor(topology, smpi_flow(asked, latency_count), asked.links);
  }

  double bandwidth_factor(const port::FactorQuestion& asked) {
    const core::Scope scope = scope_of(asked.source, asked.destination);
    if (const auto announced = session().announced_flows.answer(asked.source, asked.destination, asked.wire_bytes))
      return costs_.bandwidth_factor(scope, announced->as);
    return costs_.smpi_bandwidth_factor(scope, smpi_flow(asked, bandwidth_count));
  }

 private:
  // SimGrid asks once for each factor of a message, in any order: both must see the same draw.
  static constexpr std::size_t latency_count = static_cast<std::size_t>(core::MessageCost::transfer);
  static constexpr std::size_t bandwidth_count = latency_count + 1;
  struct Counts {
    std::uint32_t host;  // index
    std::array<std::uint64_t, bandwidth_count + 1> messages;
  };

  static core::Scope scope_of(const s4u::Host* source, const s4u::Host* destination) {
    return source == destination ? core::Scope::local : core::Scope::remote;
  }

  MessageName next(const s4u::Host* source, std::size_t count) {
    Counts& counts = hosts_.at(source);
    return {counts.host, 0, 0, counts.messages[count]++, true};
  }

  core::MessageFlow smpi_flow(const port::FactorQuestion& asked, std::size_t count) {
    const MessageName name = next(asked.source, count);
    const core::MessageFlow flow = costs_.flow(scope_of(asked.source, asked.destination),
                                               std::max(0.0, asked.wire_bytes - core::smpi_envelope_bytes), &name);
    // Slower links of a kind of hosts slow it by themselves.
    return costs_.between_groups(hosts_.at(asked.source).host, hosts_.at(asked.destination).host, flow);
  }

  const NetworkCosts& costs_;
  MessageTotals& smpi_messages_;
  std::unordered_map<const s4u::Host*, Counts> hosts_;
};

void install(s4u::NetZone* zone, const std::shared_ptr<Callbacks>& callbacks) {
  for (const auto& [operation, which] : {std::pair(SmpiOperation::SEND, core::MessageCost::send),
                                         std::pair(SmpiOperation::ISEND, core::MessageCost::isend),
                                         std::pair(SmpiOperation::RECV, core::MessageCost::recv)}) {
    smpi_register_op_cost_callback(
        operation, [which = which, callbacks](std::size_t size, s4u::Host* source, s4u::Host* destination) {
          return callbacks->overhead_s(which, static_cast<double>(size), source, destination);
        });
  }
  port::set_factors(
      zone, [callbacks](const port::FactorQuestion& asked) { return callbacks->latency_factor(asked); },
      [callbacks](const port::FactorQuestion& asked) { return callbacks->bandwidth_factor(asked); });
}

/// Before any zone exists: SimGrid refuses settings afterwards. Settings of the user's command line stay.
void apply_settings(const core::NetworkModel& network) {
  for (const auto& [name, value] : core::smpi_settings(network)) {
    const bool weight = name == "network/weight-S";  // the zones see to it
    port::set_default(name, weight ? "0" : value);
  }
}

void build() {
  Session& simulation = session();
  if (!simulation.file_model())
    throw core::Error(
        core::ExitCode::bad_input,
        "the platform library needs a cluster.json; expected its path in the settings that HPLCAST_SIMULATION names");
  const core::ClusterModel& cluster = simulation.file_model()->cluster;
  apply_settings(cluster.network);
  s4u::NetZone* zone = build_zone(cluster);
  const Settings& settings = simulation.settings();
  std::vector<double> shares;
  for (int host = 0; cluster.hosts.has_kinds() && host < cluster.hosts.count(); ++host)
    shares.push_back(cluster.hosts.link_share_of(host));
  simulation.platform.emplace(
      PlatformCosts{{cluster.network, settings.seed, settings.network_noise, std::move(shares)}, {}, {}});
  if (cluster.network.values().rails) simulation.platform->hosts = cluster.hosts;
  const auto hosts = static_cast<std::size_t>(cluster.hosts.count());
  const std::size_t places =
      std::max<std::size_t>(hosts, core::hosts_of(cluster.network.values().topology).value_or(0));
  for (std::size_t i = 0; i < places; ++i)
    simulation.platform->places.push_back(s4u::Host::by_name(name_of(cluster, i)));
  install(zone, std::make_shared<Callbacks>(cluster.hosts, *simulation.platform));
}

}  // namespace

}  // namespace hplcast::smpi_models

void hplcast_build_platform(const simgrid::s4u::Engine& /*engine*/) {
  hplcast::smpi_models::guarded([] { hplcast::smpi_models::build(); });
}
