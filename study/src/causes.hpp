#pragma once

#include <map>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "kernel_differences.hpp"
#include "measured_cluster.hpp"
#include "message_differences.hpp"

namespace hplcast::study {

/// A cause, and the change of the model that takes it away.
struct Replacement {
  Cause cause;
  MeasuredParts parts;
};

/// What a run and its model are compared in.
struct Findings {
  std::vector<KernelFinding> kernels;
  std::map<core::Scope, NetworkFinding> network;
  double runs = 1;
  double predicted_s = 0;
  std::map<std::string, core::KernelCount> drawn;  ///< kernels of the prediction, which has drawn durations
};

/// Causes that are no part of any model, without what is below 0.1 % of the time: observing the run, as far as it is in
/// its own work, and the rest of that. Ranks have about equal shares of both, so the time of the run has the mean.
std::vector<Cause> without_replacement(const Explanation& explanation);

/// All that differs, the largest estimated effect first. Levels of kernels that make less than 0.2 % of the time are
/// put together as one cause, and so are parts of the network of a scope below 0.1 % if they
/// make 0.01 % together. Replaced kernels take in sum the time of the run: what the prediction drew above or below the
/// expectation is taken out.
std::vector<Replacement> replacements(const Findings& findings, const core::ClusterModel& cluster,
                                      const std::vector<RankPlace>& places);

/// Both changes at once.
void merge(MeasuredParts& into, const MeasuredParts& more);

/// "6.1 % longer in the run than", "3.0 % less time in the run than", "2.5 times as long in the run as"; `where` stands
/// in the middle, and may be empty.
std::string longer(double factor, const std::string& where);

}  // namespace hplcast::study
