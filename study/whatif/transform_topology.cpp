#include "study/whatif/cluster_changes.hpp"

#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

// Transformations of how hosts are joined. Every link has the bandwidth and the latency of the link that joins a host
// to its switch.

namespace hplcast::study {

namespace {

ClusterModel with_topology(ClusterModel cluster, core::Topology topology) {
  cluster = with_network(std::move(cluster), [&](core::NetworkModel::Values& network) { network.topology = topology; });
  core::check_links(cluster);
  return cluster;
}

ClusterModel with_single_switch(ClusterModel cluster, const Argument& argument) {
  argument.require_yes();
  return with_topology(std::move(cluster), core::SingleSwitch{});
}

/// Leaf switches with `hosts_per_leaf` hosts, each with `links` links to each of `top_switches`: full bisection
/// bandwidth if hosts_per_leaf = top_switches * links.
ClusterModel with_fat_tree(ClusterModel cluster, int hosts_per_leaf, int top_switches, int links) {
  for (const int count : {hosts_per_leaf, top_switches, links})
    if (count < 1) throw core::DomainError("fat tree", count, "hosts per leaf, top switches and links of 1 or more");
  const int hosts = cluster.hosts.count();
  core::require(hosts > hosts_per_leaf, "hosts per leaf switch", hosts_per_leaf,
                "fewer than the " + std::to_string(hosts) + " hosts: 2 leaf switches or more");
  const int leaves = (hosts + hosts_per_leaf - 1) / hosts_per_leaf;
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  return with_topology(
      std::move(cluster),
      core::FatTree{{number(hosts_per_leaf), number(leaves)}, {1, number(top_switches)}, {1, number(links)}});
}

/// @throws core::DomainError for a topology with one way between two hosts
ClusterModel with_routing(ClusterModel cluster, const std::function<void(core::Routing&)>& edit) {
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    core::Routing* routing = core::routing_of(network.topology);
    core::require(routing != nullptr, "topology", core::kind_of(network.topology),
                  "fat_tree or dragonfly: others have no other routes",
                  "the transformations fat-tree and dragonfly make one");
    edit(*routing);
  });
}

ClusterModel with_top_switches(ClusterModel cluster, const Argument& argument) {
  core::Topology topology = cluster.network.values().topology;
  auto* tree = std::get_if<core::FatTree>(&topology);
  const int top_switches = argument.integer();
  if (tree == nullptr || tree->children.size() != 2)
    throw core::DomainError("topology", core::kind_of(topology), "a fat tree of two levels, to change its top switches",
                            "the transformation fat-tree makes one");
  if (top_switches < 1) throw core::DomainError("top switches", top_switches, "1 or more");
  tree->parents[1] = static_cast<unsigned>(top_switches);
  return with_topology(std::move(cluster), std::move(topology));
}

ClusterModel with_adaptive_routing(ClusterModel cluster, const Argument& argument) {
  if (argument.text() != "adaptive" && argument.text() != "static") argument.fail();
  const bool adaptive = argument.text() == "adaptive";
  if (!adaptive && core::routing_of(cluster.network.values().topology) == nullptr) return cluster;
  return with_routing(std::move(cluster), [&](core::Routing& routing) { routing.adaptive = adaptive; });
}

/// More failed links: "0,1;2,1".
ClusterModel with_failed_links(ClusterModel cluster, const Argument& argument) {
  std::vector<std::pair<unsigned, unsigned>> more;
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const std::string& text = argument.text(i);
    const std::size_t comma = text.find(',');
    if (comma == std::string::npos) argument.fail();
    more.emplace_back(argument.whole(text.substr(0, comma)), argument.whole(text.substr(comma + 1)));
  }
  return with_routing(std::move(cluster), [&](core::Routing& routing) { core::append(routing.failed_links, more); });
}

ClusterModel with_torus(ClusterModel cluster, const Argument& argument) {
  std::string dimensions;
  for (std::size_t i = 0; i < argument.size(); ++i)
    dimensions += (i == 0 ? "" : ",") + std::to_string(argument.integer(i));
  return with_topology(std::move(cluster), core::Torus::from(dimensions));
}

/// So many cards per host, each with a link as fast as the one that there is. Cards near CPUs that were measured, and
/// what else is known of them, give way.
ClusterModel with_rails(ClusterModel cluster, const Argument& argument) {
  const int count = argument.integer();
  if (count < 1 || count > 64) throw core::DomainError("rails", count, "1 to 64 cards per host");
  const int cpus = cluster.hosts.most_cpus();
  cluster = with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    network.rails.reset();
    if (count > 1) network.rails = core::equal_rails(count, cpus);
  });
  core::check_links(cluster);
  return cluster;
}

/// Striped: messages that wait for their receivers, as MPI libraries divide only those.
ClusterModel with_use_of_rails(ClusterModel cluster, const Argument& argument) {
  const std::string& text = argument.text();
  if (text != "bound" && text != "striped") argument.fail();
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    if (!network.rails)
      throw core::DomainError("rails", 1, "several cards per host, of which ranks use one or all",
                              "the transformation rails makes them");
    network.rails->use = core::from_name<core::Rails::Use>(text);
    const bool striped = network.rails->use == core::Rails::Use::striped;
    network.rails->striped_from_bytes = striped ? static_cast<double>(network.detached_bytes) : 0;
  });
}

}  // namespace

std::vector<KnownTransformation> topology_changes() {
  return {
      {{"single-switch", "yes", "all hosts on one switch"}, with_single_switch},
      {{"fat-tree", "HOSTS_PER_LEAF:TOP_SWITCHES[:LINKS]", "two levels of switches"},
       [](ClusterModel cluster, const Argument& argument) {
         return with_fat_tree(std::move(cluster), argument.integer(0), argument.integer(1), argument.integer_or(2, 1));
       }},
      {{"top-switches", "COUNT", "another number of top switches of the fat tree"}, with_top_switches},
      {{"dragonfly", "GROUPS,LINKS;CHASSIS,LINKS;ROUTERS,LINKS;NODES", "SimGrid's dragonfly"},
       [](ClusterModel cluster, const Argument& argument) {
         return with_topology(std::move(cluster), core::Dragonfly::from(argument.text()));
       },
       Argument::nothing},
      {{"routing", "adaptive or static",
        "of the fat tree or dragonfly: by load when a message is sent, or by its ends"},
       with_adaptive_routing},
      {{"fail-links", "A,B;...", "links of the fat tree (leaf, top switch) or dragonfly (two groups) that are down"},
       with_failed_links,
       Argument::semicolon},
      {{"torus", "AxBxC", "a torus with these dimensions"}, with_torus, Argument::times},
      {{"rails", "COUNT", "cards per host, each with a link like the one that there is, near its part of the CPUs"},
       with_rails},
      {{"rails-use", "bound or striped", "each rank uses the card near it, or long messages use all at once"},
       with_use_of_rails}};
}

}  // namespace hplcast::study
