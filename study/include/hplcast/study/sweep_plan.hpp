#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

/// One factor at one of its levels, as text: {"NB", "128"}.
struct Setting {
  std::string factor;
  std::string value;
  friend bool operator==(const Setting& a, const Setting& b) { return a.factor == b.factor && a.value == b.value; }
};

/// The settings of one run, in the order in which they act.
using Configuration = std::vector<Setting>;

/// A factor with its levels.
struct Factor {
  std::string name;
  std::vector<std::string> levels;
};

/// The values of a sampled factor: levels, or a range.
struct SampledFactor {
  std::string name;
  std::vector<std::string> levels;  ///< empty: the range
  double min = 0;
  double max = 1;
  double step = 0;           ///< values are min + a multiple of it; 0: any number
  bool logarithmic = false;  ///< uniform in the logarithm
};

/// Configurations drawn at random. Latin hypercube: each factor takes `count` values, one from each of as many equal
/// parts of its range (McKay, Beckman, Conover 1979).
struct Sample {
  bool latin_hypercube = true;
  int count = 0;
  std::uint64_t seed = 1;
  std::vector<SampledFactor> factors;
};

/// A plan of runs: docs/formats/plan-yaml.md. Configurations are all factors crossed with each other, with the rows of
/// `list`, and with the sample; each is run with every seed.
struct SweepPlan {
  std::string name;
  std::string question;  ///< what the study is to answer, shown in its report; may be empty
  std::vector<std::uint64_t> seeds = {1};
  double timeout_s = 0;  ///< of one run; 0: none
  Configuration fixed;   ///< same in all runs
  std::vector<Factor> factors;
  std::vector<Configuration> list;
  std::optional<Sample> sample;
};

/// Reads plan.yaml. Paths in it become relative to `folder`, that of the plan.
/// @throws core::ParseError with the line: YAML that cannot be read, unknown keys and factors, no levels, wrong
/// numbers.
SweepPlan read_plan(std::istream& in, const std::string& name, const std::filesystem::path& folder);

/// Runs that the plan asks for, seeds included, before impossible ones are skipped.
double run_count(const SweepPlan& plan);

/// All configurations, without seeds: fixed settings first, then those of factors, list and sample.
std::vector<Configuration> configurations(const SweepPlan& plan);

/// "N=2000 NB=128"
std::string to_string(const Configuration& configuration);

/// One simulation: everything that its result depends on. Equal ones have equal ids, whatever plan they come from.
struct SweepRun {
  std::string id;  ///< SHA-256 of the rest, in hex
  std::string model_sha256;
  core::HplParameters parameters;
  std::uint64_t seed = 1;
  std::string mode = "exact";                 ///< or fast; `auto` is resolved when the plan is read
  WindowRule windows;                         ///< which panels are simulated
  double target_error = 0;                    ///< of sampled ones, see PredictionRequest
  bool energy = false;                        ///< of the cluster's power
  std::map<std::string, std::string> levels;  ///< of the model, see described(); the model is at them already
};

/// The level "1%" of target-error as a ratio. @throws core::DomainError
double target_error_of(const std::string& text);

/// The request for a run; without its cluster.
PredictionRequest request_of(const SweepRun& run);

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
  std::vector<std::string> warnings;  ///< of the plans, each once
};

/// Reads the clusters, makes the changes, and leaves out what cannot be run: more ranks than cores, a matrix that does
/// not fit, a transformation that this cluster does not allow.
/// @throws core::Error for a cluster file that cannot be read.
SweepRuns runs_of(const SweepPlan& plan);

}  // namespace hplcast::study
