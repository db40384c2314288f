#pragma once

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::study {

/// Gflop/s of `ranks` ranks (hosts are filled in order) that do nothing but dgemm at the best shape of its model: the
/// largest rate over m = n from 256 to 262144 and k from 32 to 1024. 0 if the cluster has no model of dgemm.
double dgemm_peak_gflops(const core::ClusterModel& cluster, int ranks);

}  // namespace hplcast::study
