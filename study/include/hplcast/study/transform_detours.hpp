#pragma once

#include "hplcast/core/cluster_model.hpp"

/// What-if changes of detours (docs/use/detours.md).
namespace hplcast::study {

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

}  // namespace hplcast::study
