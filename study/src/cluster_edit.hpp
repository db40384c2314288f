#pragma once

#include <functional>

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

/// The cluster with its network edited, and validated again.
core::ClusterModel with_network(core::ClusterModel cluster,
                                const std::function<void(core::NetworkModel::Values&)>& edit);

/// Edits every segment of one cost.
void edit_segments(core::SegmentedLaw& law, const std::function<void(core::Segment&)>& edit);

/// The model of a kernel. @throws core::DomainError if the cluster has none.
core::KernelModel& kernel_of(core::ClusterModel& cluster, const std::string& kernel);

}  // namespace hplcast::study
