#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// Gflop/s of `ranks` ranks (hosts are filled in order) that do nothing but dgemm at the best shape of its model: the
/// largest rate over m = n from 256 to 262144 and k from 32 to 1024. 0 if the cluster has no model of dgemm.
double dgemm_peak_gflops(const core::ClusterModel& cluster, int ranks);

/// A kernel that HPL called although the cluster has no model of it: its calls took no time.
struct FreeKernel {
  std::string name;
  std::uint64_t calls = 0;
  double share = 0;  ///< of the predicted time that the calls would have taken at a typical rate, on average over ranks
};

/// The kernels that were free in a prediction, the dearest first. Typical rates: 10 Gflop/s per core (dgemm, dtrsm),
/// 5 GB/s per core where matrices are copied or rows swapped, 1 us for each call of others.
std::vector<FreeKernel> free_kernels(const core::Prediction& prediction, const core::ClusterModel& cluster);

/// Messages about the free kernels of several predictions with one model, each kernel once, for the prediction where
/// it matters most: lines that begin with "warning: ", and one with "note: " for those that take less than 1 %.
std::vector<std::string> free_kernel_lines(const std::vector<core::Prediction>& predictions,
                                           const core::ClusterModel& cluster);

/// "dtrsm has no model: its 120 calls were free; at a typical rate they take about 12 % of the predicted time"
std::string to_string(const FreeKernel& kernel);

}  // namespace hplcast::study
