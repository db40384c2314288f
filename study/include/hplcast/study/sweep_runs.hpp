#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/sweep_plan.hpp"

namespace hplcast::study {

/// One simulation: everything that its result depends on. Equal ones have equal ids, whatever plan they come from.
struct SweepRun {
  std::string id;  ///< SHA-256 of the rest, in hex
  std::string model_sha256;
  core::HplParameters parameters;
  std::uint64_t seed = 1;
  std::string mode = "exact";                 ///< or fast; `auto` is resolved when the plan is read
  WindowRule windows;                         ///< which panels are simulated
  bool energy = false;                        ///< of the cluster's power
  std::map<std::string, std::string> levels;  ///< of the model, see described(); the model is at them already
};

/// exact or fast; anything else is automatic.
SimulationMode simulation_mode(const std::string& name);

/// The id of a run with these contents.
std::string run_id(const SweepRun& run);

/// A configuration of a plan with one seed, and the run that has its result.
struct SweepPoint {
  Configuration factors;  ///< what the plan varies: fixed settings are not in it
  std::string run;        ///< id
};

/// A configuration that cannot be run.
struct SkippedPoint {
  Configuration factors;
  std::string reason;
};

/// A plan made concrete.
struct SweepRuns {
  std::map<std::string, core::ClusterModel> clusters;  ///< by SHA-256
  std::vector<SweepRun> runs;                          ///< different ones, in the order of the plan
  std::vector<SweepPoint> points;                      ///< with their seeds: points.size() >= runs.size()
  std::vector<SkippedPoint> skipped;
  std::vector<std::string> warnings;  ///< of check(), each once
};

/// Reads the clusters, makes the changes, and leaves out what cannot be run: more ranks than cores, a matrix that does
/// not fit, a transformation that this cluster does not allow.
/// @throws core::Error for a cluster file that cannot be read.
SweepRuns runs_of(const SweepPlan& plan);

}  // namespace hplcast::study
