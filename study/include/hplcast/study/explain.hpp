#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/study/resolve.hpp"

namespace hplcast::study {

/// A real run of which xhpl-instrumented kept what its ranks did.
struct ObservedRun {
  std::filesystem::path folder;  ///< with phases.json and run-RANK.activity (docs/use/real-runs.md)
  core::HplRun run;              ///< parameters and times
};

/// The runs of a folder of one run, or of a CSV of `run-real --phases` (all of its runs, in its order).
/// @throws core::Error (bad_input) for folders that are missing or have no phases.json, and for runs without
/// observation; core::ParseError for files that cannot be read.
std::vector<ObservedRun> observed_runs(const std::filesystem::path& real);

/// The prediction, among those of a file, of a configuration that was run; of several seeds that with the middle time.
/// Runs of other configurations are taken out of `runs`. @throws core::Error (bad_input) if none of the runs is
/// predicted, several are, or one with several models.
core::Prediction prediction_of_runs(const std::string& path, std::vector<ObservedRun>& runs);

/// Runs and the prediction to compare, and how far to go.
struct ExplainRequest {
  std::vector<ObservedRun> runs;  ///< of the configuration of `prediction`; not empty
  core::Prediction prediction;
  core::ClusterModel cluster;                 ///< that the prediction was made with, at its levels
  std::optional<bool> counterfactuals;        ///< nothing: if they take a few seconds only
  std::filesystem::path trace;                ///< both runs as Chrome's JSON; empty: none
  std::filesystem::path picture;              ///< the causes, and both runs, as SVG; empty: none
  int first_rank = 0, last_rank = 7;          ///< in trace and picture
  int first_panel = 0, last_panel = 1 << 30;  ///< in the picture
  SimulatorPrograms programs;
  double timeout_s = 0;                                                ///< of one simulation; 0: none
  std::function<void(double done, const std::string& what)> progress;  ///< 0 to 1; may be empty
};

/// Some ranks of a run, by the hosts and CPUs of the cluster model.
struct RankGroup {
  std::string name;        ///< "node-3", "node-3 CPU 1", "rank 5 (node-3 CPU 1)"; empty: all ranks
  std::vector<int> ranks;  ///< ascending
};

/// Calls of a kernel in a range of sizes, over all ranks, per run.
struct KernelSizes {
  double least_product = 0, most_product = 0;  ///< of m n k
  double calls = 0;
  double real_s = 0, model_s = 0;              ///< total, and expected by the model for the same calls
  double real_scatter = 0, model_scatter = 0;  ///< standard deviation of duration / expectation; of `samples` calls
  int samples = 0;                             ///< 0: scatter is not known
};

/// One kernel, over all ranks, per run.
struct KernelDifference {
  std::string kernel;
  bool has_model = true;
  double calls = 0;
  double real_s = 0, model_s = 0;
  double level = 1;  ///< real over model, on all ranks but those that stand out
  std::vector<KernelSizes> sizes;
  /// Groups of ranks whose calls take longer or shorter than those of the others, and how much.
  struct Place {
    RankGroup group;
    double factor = 1;
  };
  std::vector<Place> places;
};

/// Messages of which both ends were seen and the receiver was there in time, in a range of sizes.
struct MessageDifference {
  core::Scope scope = core::Scope::local;
  double least_bytes = 0, most_bytes = 0;
  double messages = 0;             ///< per run
  double real_s = 0, model_s = 0;  ///< mean time from when both were there until the receiver had it
  /// The same of most messages: the model's mean, and the median of what goes beyond it. Factors are fitted to these.
  double usual_real_s = 0, usual_model_s = 0;
};

/// How one phase differs, means over the ranks.
struct PhaseDifference {
  core::PhaseSummary real, predicted;
  std::vector<int> far_ranks;  ///< whose difference stands out from that of the others
};

/// Something that the model has in another way than the run, or that no model has.
struct Cause {
  /// messages: several of the network's. observation: what keeping calls and phases of the run took. own_work: of HPL,
  /// between kernels and messages.
  enum class Kind { kernel, place, latency, bandwidth, calls, messages, observation, own_work };
  Kind kind = Kind::kernel;
  std::vector<std::string> kernels;         ///< that it is about
  RankGroup group;                          ///< where; all ranks if its name is empty
  core::Scope scope = core::Scope::remote;  ///< of messages
  double factor = 1;                        ///< time in the run over time in the model
  std::string text;                         ///< a sentence without its end
  std::string advice;                       ///< a command that would mend it
  double estimated_s = 0;                   ///< of the difference, from sums alone
  std::optional<double> simulated_s;        ///< of the difference, by counterfactual simulations: mean of the orders
  double least_s = 0, most_s = 0;           ///< simulated_s by the order in which parts are replaced
  double share_s() const { return simulated_s.value_or(estimated_s); }
};

/// As in JSON.
const char* to_string(Cause::Kind kind);

/// Times of the ranks on a kind of hosts, means over them.
struct KindTimes {
  std::string kind;
  int ranks = 0;
  double real_kernels_s = 0, real_waiting_s = 0;
  std::optional<double> predicted_kernels_s = {}, predicted_waiting_s = {};  ///< if the prediction has them
};

/// Why a prediction is off. Times are per run; of several runs means, of their times the median.
struct Explanation {
  core::HplParameters parameters;
  std::size_t runs = 0;
  double real_s = 0;
  double least_real_s = 0, most_real_s = 0;
  double predicted_s = 0;
  double difference_s() const { return real_s - predicted_s; }
  std::vector<Cause> causes;              ///< largest |share_s()| first
  double rest_s = 0;                      ///< difference less the shares
  bool simulated = false;                 ///< shares are of counterfactual simulations, else estimated
  double counterfactuals_estimate_s = 0;  ///< that these simulations take or would take
  double measured_model_waiting_s = 0;    ///< of the last counterfactual, mean over ranks; 0 if not simulated
  std::vector<PhaseDifference> phases;
  std::vector<KindTimes> kinds;           ///< that have ranks; of more than one kind only
  std::vector<KindTimes> cards;           ///< the same by network card
  std::vector<KernelDifference> kernels;  ///< largest |real - model| first
  std::vector<MessageDifference> messages;
  double own_work_s = 0;  ///< of the real run: neither in kernels nor in MPI calls, mean over ranks; with observation_s
  double observation_s = 0;  ///< that keeping calls and phases of the real run took, mean over ranks
  double held_up_s = 0;  ///< in messages that took more than ten times as long as usual, beyond that; mean over ranks
  double overhead = 0;   ///< of observing, share of the run
  double known_waiting = 1;
  std::string picture;  ///< SVG of what the ranks did in both, if one was asked for
  std::vector<std::string> warnings;
};

/// @throws core::Error (bad_input) if runs and prediction do not belong together: other parameters, another cluster
/// model, ranks that were placed in another way, files that are missing; what predict() throws.
Explanation explain(const ExplainRequest& request);

/// At most ten lines for people, the most important one first.
std::vector<std::string> verdict(const Explanation& explanation);

/// The JSON of docs/formats/explain-json.md.
void write_explanation(std::ostream& out, const Explanation& explanation);

/// Summary of an explanation in a report.
struct ExplanationSummary {
  core::HplParameters parameters;
  std::vector<std::string> verdict;
  double predicted_s = 0, real_s = 0;
  struct Cause {
    double share = 0, seconds = 0;
    std::string text;
    std::string name;  ///< what it is about: "dgemm on node-3 CPU 1"
  };
  std::vector<Cause> causes;
  double rest_share = 0;  ///< not explained
  bool simulated = false;
  std::string picture;                             ///< SVG; may be empty
  std::map<std::string, double> real_kernels_s;    ///< of all ranks together, per run
  double real_messages_s = 0, real_waiting_s = 0;  ///< means over the ranks
};

/// Whether a JSON is what write_explanation() writes.
bool is_explanation(const std::string& text);

/// @throws core::ParseError for missing fields.
ExplanationSummary read_explanation(std::istream& in, const std::string& name);

}  // namespace hplcast::study
