#include "hplcast/study/transform_topology.hpp"

#include <sstream>

#include "cluster_edit.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

core::ClusterModel with_topology(core::ClusterModel cluster, const std::string& kind, const std::string& parameters) {
  return with_network(std::move(cluster), [&](core::NetworkModel::Values& network) {
    network.topology = {};
    network.topology.kind = kind;
    network.topology.parameters = parameters;
  });
}

/// "3,4;3,2" to {{3, 4}, {3, 2}}; anything but whole numbers from 1 on: empty.
std::vector<std::vector<int>> lists_of(const std::string& text) {
  std::vector<std::vector<int>> lists;
  std::istringstream all(text);
  for (std::string part; std::getline(all, part, ';');) {
    lists.emplace_back();
    std::istringstream list(part);
    for (std::string item; std::getline(list, item, ',');) {
      double value = 0;
      if (!core::parse_double(item, value) || !(value >= 1) || value > 1e6 || value != static_cast<int>(value))
        return {};
      lists.back().push_back(static_cast<int>(value));
    }
    if (lists.back().empty()) return {};
  }
  return lists;
}

void require_hosts(const core::ClusterModel& cluster, const std::string& what, double hosts) {
  if (hosts != cluster.hosts.count()) {
    throw core::DomainError("topology", what, "one of " + std::to_string(cluster.hosts.count()) + " hosts");
  }
}

}  // namespace

core::ClusterModel with_single_switch(core::ClusterModel cluster) {
  return with_topology(std::move(cluster), "single_switch", "");
}

core::ClusterModel with_fat_tree(core::ClusterModel cluster, const FatTree& tree) {
  for (const int count : {tree.hosts_per_leaf, tree.top_switches, tree.links}) {
    if (count < 1) throw core::DomainError("fat tree", count, "hosts per leaf, top switches and links of 1 or more");
  }
  const int hosts = cluster.hosts.count();
  if (hosts % tree.hosts_per_leaf != 0 || hosts / tree.hosts_per_leaf < 2) {
    throw core::DomainError(
        "hosts per leaf switch", tree.hosts_per_leaf,
        "a number that divides the " + std::to_string(hosts) + " hosts into 2 leaf switches or more");
  }
  const auto text = [](int value) { return std::to_string(value); };
  return with_topology(std::move(cluster), "fat_tree",
                       "2;" + text(tree.hosts_per_leaf) + "," + text(hosts / tree.hosts_per_leaf) + ";1," +
                           text(tree.top_switches) + ";1," + text(tree.links));
}

core::ClusterModel with_top_switches(core::ClusterModel cluster, int top_switches) {
  const core::Topology& topology = cluster.network.values().topology;
  const auto lists = lists_of(topology.parameters);
  const bool two_levels = topology.kind == "fat_tree" && lists.size() == 4 && lists[1].size() == 2 &&
                          lists[2].size() == 2 && lists[3].size() == 2;
  if (!two_levels) {
    throw core::DomainError("topology", topology.kind, "a fat tree of two levels, to change its top switches",
                            "the transformation fat-tree makes one");
  }
  return with_fat_tree(std::move(cluster), {lists[1][0], top_switches, lists[3][1]});
}

core::ClusterModel with_dragonfly(core::ClusterModel cluster, const std::string& parameters) {
  const auto lists = lists_of(parameters);
  const bool well_formed =
      lists.size() == 4 && lists[0].size() == 2 && lists[1].size() == 2 && lists[2].size() == 2 && lists[3].size() == 1;
  if (!well_formed) {
    throw core::DomainError("dragonfly", parameters,
                            "groups,links;chassis,links;routers,links;nodes such as 2,4;2,2;4,1;2");
  }
  require_hosts(cluster, parameters, 1.0 * lists[0][0] * lists[1][0] * lists[2][0] * lists[3][0]);
  return with_topology(std::move(cluster), "dragonfly", parameters);
}

core::ClusterModel with_torus(core::ClusterModel cluster, const std::vector<int>& dimensions) {
  double hosts = 1;
  std::string parameters;
  for (const int dimension : dimensions) {
    if (dimension < 1) throw core::DomainError("torus", dimension, "dimensions of 1 or more");
    hosts *= dimension;
    parameters += (parameters.empty() ? "" : ",") + std::to_string(dimension);
  }
  require_hosts(cluster, "torus of " + parameters, hosts);
  return with_topology(std::move(cluster), "torus", parameters);
}

}  // namespace hplcast::study
