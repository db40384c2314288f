#pragma once

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of the frequency of a cluster, as a person sets it or as a limit of power leaves it. Kernels take
/// b f0/f + 1 - b of their time, with b of power.frequency.scaling; so does the code of an observed program, with b of
/// `default` where it is no kernel of HPL. Network and MPI stay as they are. Limits are kept as hardware does it with all
/// cores in dgemm: by the highest frequency that can be set at which
///   idle + awake + sum over cores of p(dgemm, f)
/// is at most the limit. A CPU has its share 1/cpus of its host's idle and awake watts. All watts are behind the power
/// supply, as RAPL's are.
namespace hplcast::study {

/// All CPUs at this frequency in Hz, or below it where the caps of the cluster do not allow it.
/// @throws core::DomainError without power.frequency, for a frequency that it does not have, and as with_power_cap().
core::ClusterModel at_frequency(core::ClusterModel cluster, double hz);

/// Another limit of each CPU, or of each host, in W. CPUs that have been below the limit before stay as fast as they
/// are; those that a cap has kept slow get faster with a higher one.
/// @throws core::DomainError for a cap below what a CPU or host draws at its lowest frequency (says how much), and for
/// power that does not depend on the frequency or says of no frequency that can be set.
core::ClusterModel with_power_cap(core::ClusterModel cluster, double cap_w, bool per_host);

}  // namespace hplcast::study
