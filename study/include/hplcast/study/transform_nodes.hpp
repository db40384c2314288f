#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of the hosts of a cluster.
namespace hplcast::study {

/// dgemm rate of each host in flop/s per core: 2mnk over the mean of the expected durations on its CPUs, at m = n =
/// 2048, k = 128, as in the update of HPL. All 1 for a cluster without a model of dgemm.
std::vector<double> host_rates(const core::ClusterModel& cluster);

/// Indices of the hosts from the slowest to the fastest; equal ones in their order.
std::vector<int> hosts_by_rate(const core::ClusterModel& cluster);

/// The cluster of these hosts (indices of the old ones, in the new order; repeated: copies, which get new names). Laws
/// of CPUs go with their hosts.
/// @throws core::DomainError for no hosts, an index out of range, or a topology other than one switch when the number
/// of hosts changes.
core::ClusterModel with_hosts(const core::ClusterModel& cluster, const std::vector<int>& hosts);

/// Which of the hosts sorted by speed.
enum class SpeedRank { slowest, median, fastest };

/// Without the `count` hosts that stand first by `which`. @throws core::DomainError unless a host stays.
core::ClusterModel remove_nodes(const core::ClusterModel& cluster, int count, SpeedRank which);
/// Without the hosts of these names. @throws core::DomainError for an unknown one.
core::ClusterModel remove_named_nodes(const core::ClusterModel& cluster, const std::vector<std::string>& names);
/// With `count` copies of the host that is `which`, at the end.
core::ClusterModel add_nodes(const core::ClusterModel& cluster, int count, SpeedRank which);
/// The `count` hosts that stand first by `which` become like the host that is `by`. Names stay.
core::ClusterModel replace_nodes(const core::ClusterModel& cluster, int count, SpeedRank which, SpeedRank by);
/// The same hosts in another order: ranks fill hosts from the first on. The models move to the names that are there.
core::ClusterModel sort_nodes(const core::ClusterModel& cluster, bool fastest_first);

/// Names as a radical: "node-[1-3,5]" if that is possible, else with commas. expand_hosts() gives the names again.
std::string compressed_hosts(const std::vector<std::string>& names);

}  // namespace hplcast::study
