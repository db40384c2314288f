#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of how hosts are joined. Every link has the bandwidth and the latency of the link that joins a host
/// to its switch.
namespace hplcast::study {

/// All hosts on one switch that is no bottleneck.
core::ClusterModel with_single_switch(core::ClusterModel cluster);

/// A tree of two levels: leaf switches with `hosts_per_leaf` hosts, each with `links` links to each of `top_switches`.
/// It has full bisection bandwidth if hosts_per_leaf = top_switches * links. @throws core::DomainError unless the hosts
/// fill the leaf switches, at least two of them.
struct TwoLevelTree {
  int hosts_per_leaf = 16;
  int top_switches = 1;
  int links = 1;
};
core::ClusterModel with_fat_tree(core::ClusterModel cluster, const TwoLevelTree& tree);

/// The fat tree that the cluster has, with another number of top switches. @throws core::DomainError if it has none.
core::ClusterModel with_top_switches(core::ClusterModel cluster, int top_switches);

/// SimGrid's parameters "groups,links;chassis,links;routers,links;nodes". @throws core::DomainError if they are not of
/// that form or for another number of hosts.
core::ClusterModel with_dragonfly(core::ClusterModel cluster, const std::string& parameters);

/// Dimensions whose product is the number of hosts. @throws core::DomainError
core::ClusterModel with_torus(core::ClusterModel cluster, const std::vector<int>& dimensions);

}  // namespace hplcast::study
