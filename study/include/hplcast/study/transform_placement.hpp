#pragma once

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of how ranks use the cores of a host.
namespace hplcast::study {

/// Only `ranks` ranks per host; the other cores stay idle. Ranks are spread over the CPUs as before (block or cyclic).
/// Kernels keep their speed: a core that has its CPU for itself may be faster than that.
/// @throws core::DomainError unless 1 <= ranks <= cores of a host.
core::ClusterModel with_ranks_per_node(core::ClusterModel cluster, int ranks);

/// Every rank runs `threads` threads on cores of its own, so there are fewer ranks. dgemm and dtrsm are shared by the
/// threads with parallel efficiency `efficiency` in (0, 1]; the other kernels are taken to run on one thread.
/// The watts of dgemm and dtrsm are those of all threads.
/// @throws core::DomainError unless threads divides the cores of a host.
core::ClusterModel with_threads_per_rank(core::ClusterModel cluster, int threads, double efficiency);

}  // namespace hplcast::study
