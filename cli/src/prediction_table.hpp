#pragma once

#include <iosfwd>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::cli {

/// Predictions as a table for people. Several: the fastest first, with columns for the parameters that vary; the others
/// are named once, and the best configuration (by its mean over the seeds) at the end. The share of the peak of dgemm
/// is shown where the cluster has a model of dgemm.
void write_prediction_table(std::ostream& out, const std::vector<core::Prediction>& predictions,
                            const core::ClusterModel& cluster);

/// Where the time of each prediction goes, phase by phase.
void write_phases(std::ostream& out, const std::vector<core::Prediction>& predictions);

/// The same of one run, predicted or real, named `of`.
void write_phases(std::ostream& out, const std::string& of, const std::vector<core::PhaseSummary>& phases);

}  // namespace hplcast::cli
