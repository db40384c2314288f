#pragma once

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of the speed of a cluster. All factors are of speed: 2 is twice as fast. Factors must be positive
/// and finite, else core::DomainError. Noise keeps its size relative to the duration.
namespace hplcast::study {

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

}  // namespace hplcast::study
