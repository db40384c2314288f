#pragma once

#include <map>
#include <set>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/study/explain.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/explain/differences.hpp"

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
  std::map<core::Scope, NetworkFactors> network;
};

/// The cluster with these parts. Where ranks have factors of their own, every core becomes a CPU, so that each of them
/// has a law; random streams are those of the rank, so all else draws the same numbers.
core::ClusterModel with_measured(core::ClusterModel cluster, const MeasuredParts& parts,
                                 const std::vector<RankPlace>& places);

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

/// The prediction again, and what can be seen in it.
struct Baseline {
  double time_s = 0;
  std::vector<core::PhaseSummary> summaries;
  std::vector<RankPhases> phases;   ///< empty for sampled predictions
  std::vector<RankActivity> ranks;  ///< with all events; empty unless asked for
};

/// The request that made the prediction of `request`.
PredictionRequest request_of(const ExplainRequest& request);

/// Simulates it. `events`: with a trace, in exact mode.
Baseline simulate_baseline(const ExplainRequest& request, bool events);

/// Replaces one part after the other by what the run measured, in the order of `causes`: simulated_s of each is what
/// its step changes, so that the shares and the rest add up. All steps draw the same random numbers. Returns the mean
/// waiting time of the ranks in the last one; without causes 0.
double simulate_causes(const ExplainRequest& request, const std::vector<RankPlace>& places, double baseline_s,
                       std::vector<Replacement>& causes);

}  // namespace hplcast::study
