#include "study/whatif/cluster_changes.hpp"

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

core::ClusterModel with_topology(core::ClusterModel cluster, core::Topology topology) {
  const std::optional<unsigned long> hosts = core::hosts_of(topology);
  if (hosts && *hosts != static_cast<unsigned long>(cluster.hosts.count())) {
    throw core::DomainError(core::kind_of(topology),
                            core::parameters_of(topology) + " of " + std::to_string(*hosts) + " hosts",
                            "one of " + std::to_string(cluster.hosts.count()) + " hosts");
  }
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) { network.topology = topology; });
}

}  // namespace

core::ClusterModel with_single_switch(core::ClusterModel cluster) {
  return with_topology(std::move(cluster), core::SingleSwitch{});
}

core::ClusterModel with_fat_tree(core::ClusterModel cluster, const TwoLevelTree& tree) {
  for (const int count : {tree.hosts_per_leaf, tree.top_switches, tree.links}) {
    if (count < 1) throw core::DomainError("fat tree", count, "hosts per leaf, top switches and links of 1 or more");
  }
  const int hosts = cluster.hosts.count();
  if (hosts % tree.hosts_per_leaf != 0 || hosts / tree.hosts_per_leaf < 2) {
    throw core::DomainError(
        "hosts per leaf switch", tree.hosts_per_leaf,
        "a number that divides the " + std::to_string(hosts) + " hosts into 2 leaf switches or more");
  }
  const auto number = [](int value) { return static_cast<unsigned>(value); };
  return with_topology(std::move(cluster),
                       core::FatTree{{number(tree.hosts_per_leaf), number(hosts / tree.hosts_per_leaf)},
                                     {1, number(tree.top_switches)},
                                     {1, number(tree.links)}});
}

core::ClusterModel with_top_switches(core::ClusterModel cluster, int top_switches) {
  const core::Topology& topology = cluster.network.values().topology;
  const auto* tree = std::get_if<core::FatTree>(&topology);
  if (tree == nullptr || tree->children.size() != 2) {
    throw core::DomainError("topology", core::kind_of(topology), "a fat tree of two levels, to change its top switches",
                            "the transformation fat-tree makes one");
  }
  const int hosts_per_leaf = static_cast<int>(tree->children[0]);
  const int links = static_cast<int>(tree->links[1]);
  return with_fat_tree(std::move(cluster), {hosts_per_leaf, top_switches, links});
}

core::ClusterModel with_dragonfly(core::ClusterModel cluster, const std::string& parameters) {
  return with_topology(std::move(cluster), core::Dragonfly::from(parameters));
}

core::ClusterModel with_torus(core::ClusterModel cluster, const std::vector<int>& dimensions) {
  for (const int dimension : dimensions) {
    if (dimension < 1) throw core::DomainError("torus", dimension, "dimensions of 1 or more");
  }
  return with_topology(std::move(cluster), core::Torus{{dimensions.begin(), dimensions.end()}});
}

}  // namespace hplcast::study
