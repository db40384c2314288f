#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

/// A factor for people's mistakes: @throws core::DomainError unless it is positive and finite.
double require_positive(const char* name, double value);

using LawEdit = std::function<core::DurationLaw(const core::DurationLaw&)>;

/// Every piece edited.
core::PiecewiseLaw edited(const core::PiecewiseLaw& law, const LawEdit& edit);

/// Every law of the kernel edited: that of the cluster and those of CPUs. Quality goes, for it speaks of the old law.
core::KernelModel edited(const core::KernelModel& model, const LawEdit& edit);

/// The law with expectation and standard deviation times `factor`.
core::DurationLaw slowed(const core::DurationLaw& law, double factor);
core::PiecewiseLaw slowed(const core::PiecewiseLaw& law, double factor);
core::KernelModel slowed(const core::KernelModel& model, double factor);

/// The code of an observed program: `slow` changes the model of a routine (empty: of a region), all else takes `longer`
/// times as long.
void slow_program(core::ProgramModel& program,
                  const std::function<void(core::KernelModel& model, const std::string& routine)>& slow, double longer);

/// The cluster with its network edited, and validated again.
core::ClusterModel with_network(core::ClusterModel cluster,
                                const std::function<void(core::NetworkModel::Values&)>& edit);

/// Edits every segment of one cost.
void edit_segments(core::SegmentedLaw& law, const std::function<void(core::Segment&)>& edit);

/// Intercept and everything around it, in seconds, times `factor`.
void scale_intercept(core::Segment& segment, double factor);

/// The model of a kernel. @throws core::DomainError if the cluster has none.
core::KernelModel& kernel_of(core::ClusterModel& cluster, const std::string& kernel);

// What-if changes of detours (docs/use/detours.md).

/// One more source: a detour of `duration_s` in every `period_s`, with random phases. Its name is the next free of
/// added-1, added-2 ...
/// @param cores  of each host, ascending, that it hits; empty: all
/// @throws core::DomainError for a period that is not above 0, detours that leave no time for work, or a core that
/// hosts do not have.
core::ClusterModel add_detours(core::ClusterModel cluster, double period_s, double duration_s, core::DetoursPer per,
                               std::vector<int> cores = {});

/// Durations of all detours times `factor` >= 0; 0: they take nothing. @throws core::DomainError as add_detours(), and
/// for a cluster without detours.
core::ClusterModel scale_detours(core::ClusterModel cluster, double factor);

/// All detours hit all cores of the cluster at the same instant, as if whatever causes them were started by one clock.
/// @throws core::DomainError for a cluster without detours.
core::ClusterModel synchronise_detours(core::ClusterModel cluster);

// What-if changes of the hosts of a cluster.

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

// What-if changes of how ranks use the cores of a host.

/// Only `ranks` ranks per host; the other cores stay idle. Ranks are spread over the CPUs as before (block or cyclic).
/// Kernels keep their speed: a core that has its CPU for itself may be faster than that.
/// @throws core::DomainError unless 1 <= ranks <= cores of a host.
core::ClusterModel with_ranks_per_node(core::ClusterModel cluster, int ranks);

/// Every rank runs `threads` threads on cores of its own, so there are fewer ranks. dgemm and dtrsm are shared by the
/// threads with parallel efficiency `efficiency` in (0, 1]; the other kernels are taken to run on one thread.
/// The watts of dgemm and dtrsm are those of all threads.
/// @throws core::DomainError unless threads divides the cores of a host.
core::ClusterModel with_threads_per_rank(core::ClusterModel cluster, int threads, double efficiency);

// What-if changes of the frequency of a cluster, as a person sets it or as a limit of power leaves it. Kernels take
// b f0/f + 1 - b of their time, with b of power.frequency.scaling; so does the code of an observed program, with b of
// `default` where it is no kernel of HPL. Network and MPI stay as they are. Limits are kept as hardware does it with
// all cores in dgemm: by the highest frequency that can be set at which
//   idle + awake + sum over cores of p(dgemm, f)
// is at most the limit. A CPU has its share 1/cpus of its host's idle and awake watts. All watts are behind the power
// supply, as RAPL's are.

/// All CPUs at this frequency in Hz, or below it where the caps of the cluster do not allow it.
/// @throws core::DomainError without power.frequency, for a frequency that it does not have, and as with_power_cap().
core::ClusterModel at_frequency(core::ClusterModel cluster, double hz);

/// Another limit of each CPU, or of each host, in W. CPUs that have been below the limit before stay as fast as they
/// are; those that a cap has kept slow get faster with a higher one.
/// @throws core::DomainError for a cap below what a CPU or host draws at its lowest frequency (says how much), and for
/// power that does not depend on the frequency or says of no frequency that can be set.
core::ClusterModel with_power_cap(core::ClusterModel cluster, double cap_w, bool per_host);

// What-if changes of the speed of a cluster. All factors are of speed: 2 is twice as fast. Factors must be positive
// and finite, else core::DomainError. Noise keeps its size relative to the duration.

/// The named kernel on all CPUs. @throws core::DomainError also for a kernel that the cluster has no model of.
core::ClusterModel scale_kernel(core::ClusterModel cluster, const std::string& kernel, double factor);

/// Every kernel on all CPUs.
core::ClusterModel scale_kernels(core::ClusterModel cluster, double factor);

/// Bandwidth of the network between hosts (within the host, if there is only one): links and their capacity, backbone,
/// and the slopes of the transfer times. What the CPU spends on a message (send, isend, recv) stays.
core::ClusterModel scale_bandwidth(core::ClusterModel cluster, double factor);

/// Total bandwidth of several messages at once through the link of a host (inside the host, if there is only one); a
/// single message stays as fast as the link allows. Where the capacity is not known, the assumed one is scaled.
/// @throws core::DomainError also for a single host whose messages do not slow each other down.
core::ClusterModel scale_capacity(core::ClusterModel cluster, double factor);

/// The same for latency, with 2 for half the latency: links, backbone, intercepts of the transfer times.
core::ClusterModel scale_latency(core::ClusterModel cluster, double factor);

/// Everything that takes time: kernels, all costs of messages of both scopes, probes, clock reads, links.
core::ClusterModel scale_all(core::ClusterModel cluster, double factor);

// What-if changes of how hosts are joined. Every link has the bandwidth and the latency of the link that joins a
// host to its switch.

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

// What-if changes of how much durations differ, between calls (temporal) and between CPUs (spatial).

/// Calls of a kernel scatter with coefficient of variation `cv` (sd / expectation) for all sizes and CPUs, half-normal;
/// expectations stay. 0: none. Without `kernel`: all kernels.
/// @throws core::DomainError for cv negative or not finite, or an unknown kernel.
core::ClusterModel with_temporal_cv(core::ClusterModel cluster, const std::optional<std::string>& kernel, double cv);

/// Standard deviations and mixtures of the costs of messages around their expectations, times `factor` >= 0. 0: none.
core::ClusterModel scale_network_noise(core::ClusterModel cluster, double factor);

/// dgemm of every CPU becomes the mean law of the cluster, its durations multiplied by a number drawn from N(1, cv^2)
/// for each CPU (below 0.1 and above 10: drawn again). 0: all CPUs alike. Draws depend on seed, host and CPU only.
/// @throws core::DomainError for cv outside [0, 1], or a cluster without a model of dgemm.
core::ClusterModel with_spatial_cv(core::ClusterModel cluster, double cv, std::uint64_t seed);

/// The law with the mean coefficients over all CPUs of the cluster; the law of the cluster itself where those of the
/// CPUs are not of one form (terms, pieces, noise).
core::PiecewiseLaw mean_law(const core::Hosts& hosts, const core::KernelModel& model);

}  // namespace hplcast::study
