#pragma once

#include <map>
#include <set>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/kernel_id.hpp"
#include "kernel_differences.hpp"

namespace hplcast::study {

/// Factors on the times of a kernel.
struct KernelLevel {
  ClassFactors classes{};  ///< per class of size
  double overall = 1;      ///< for laws whose pieces do not go with the classes
};

/// Parts of a cluster model that take the times of a run.
struct MeasuredParts {
  std::map<core::KernelId, KernelLevel> levels;
  std::map<core::KernelId, double> without_model;         ///< s per m n k, of kernels without a model
  std::map<core::KernelId, std::map<int, double>> ranks;  ///< times of a kernel on single ranks, beyond the level
  struct Network {
    double latency = 1, bandwidth = 1, calls = 1;  ///< factors on times: intercepts and slopes of transfers; calls
  };
  std::map<core::Scope, Network> network;
};

/// The cluster with these parts. Where ranks have factors of their own, every core becomes a CPU, so that each of them
/// has a law; random streams are those of the rank, so all else draws the same numbers.
core::ClusterModel with_measured(core::ClusterModel cluster, const MeasuredParts& parts,
                                 const std::vector<RankPlace>& places);

}  // namespace hplcast::study
