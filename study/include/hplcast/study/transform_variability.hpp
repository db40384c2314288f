#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of how much durations differ, between calls (temporal) and between CPUs (spatial).
namespace hplcast::study {

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
