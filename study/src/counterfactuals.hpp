#pragma once

#include <vector>

#include "causes.hpp"
#include "hplcast/study/explain.hpp"
#include "observed_ranks.hpp"

namespace hplcast::study {

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
