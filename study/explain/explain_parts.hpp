#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/activity/rank_activity.hpp"
#include "study/plot/figure.hpp"
#include "study/run/simulation_files.hpp"

// Declarations that the files of an explanation share.

namespace hplcast::study {

// --- differences between a run and its model

/// Values of ranks, of which some may stand out from most.
struct Spread {
  double middle = 0;
  std::vector<double> distances;  ///< of each value from the middle
  double limit = 0;               ///< of the distance: what is farther away stands out
};

/// Stands out what is more than `least` and five robust standard deviations away from the middle: the median of an odd
/// number of values; of an even number, of the middle two the one with less weight. Not empty.
Spread spread_of(const std::vector<double>& values, const std::vector<double>& weights, double least);

/// Where a rank is in the simulation: hosts are filled in order, one rank per core.
struct RankPlace {
  int host = 0;   ///< index into the hosts of the cluster
  int local = 0;  ///< rank on that host, which is also its core
  int cpu = 0;
  long leading_dimension = 1;  ///< of its matrix, in doubles
};

/// Empty unless ranks are on several kinds of hosts. `predicted`: may be empty.
std::vector<KindTimes> kind_times(const core::Hosts& hosts, const std::vector<RankPlace>& places,
                                  const std::vector<RankPhases>& real, const std::vector<RankPhases>& predicted);
/// The same for network cards, where each rank has one; `kind` is such as "card 0".
std::vector<KindTimes> card_times(const std::optional<core::Rails>& rails, const std::vector<RankPlace>& places,
                                  const std::vector<RankPhases>& real, const std::vector<RankPhases>& predicted);

std::vector<RankPlace> rank_places(const core::ClusterModel& cluster, int ranks);

/// The ranks of `chosen` as few groups: whole hosts, else whole CPUs, else single ranks.
std::vector<RankGroup> rank_groups(const core::ClusterModel& cluster, const std::vector<RankPlace>& places,
                                   const std::vector<bool>& chosen);

/// Calls of one rank in one class of size: of all runs together.
struct KernelCell {
  double calls = 0, real_s = 0, model_s = 0;
  double variance_s2 = 0;  ///< of the sum of the durations, by the model
};
inline constexpr std::size_t shape_classes = HPLCAST_SHAPE_CLASS_COUNT;
using ClassCells = std::array<KernelCell, shape_classes>;
using ClassFactors = std::array<double, shape_classes>;

/// Real calls of a kernel against its model, and what would have to be changed in the model.
struct KernelFinding {
  core::KernelId kernel{};
  bool has_model = true;
  double stretch = 1;  ///< by the detours of the model, which kernels of a run contain: in model_s of the cells
  std::vector<ClassCells> ranks;
  /// Real over model per class of size, on the ranks that do not stand out. 1 where there are no calls; without a model
  /// seconds over the sum of m n k.
  ClassFactors level{};
  std::vector<double> deviation;  ///< per rank, beyond the level; 1 where the rank does not stand out
  std::vector<KernelSizes> sizes;

  /// Sum over all ranks and classes.
  double sum_of(double KernelCell::*member) const;
  double real_s() const { return sum_of(&KernelCell::real_s); }
  double model_s() const { return has_model ? sum_of(&KernelCell::model_s) : 0; }
  /// Expected by the model times the level, of one rank.
  double levelled_s(std::size_t rank) const;
  /// Change of the time of one rank by the level.
  double level_change_s(std::size_t rank) const;
  /// One factor for all classes.
  double overall_level() const;
};

/// The calls of all runs (each with all of its ranks) against the models of a cluster. Ranks stand out if their ratio
/// is more than 3 % and five robust standard deviations away from that of most, and that is more than `matters_s` (of
/// all runs together).
std::vector<KernelFinding> kernel_findings(const std::vector<const std::vector<RankActivity>*>& runs,
                                           const core::ClusterModel& cluster, const std::vector<RankPlace>& places,
                                           double matters_s);

/// As people see it, per run.
KernelDifference difference_of(const KernelFinding& finding, const core::ClusterModel& cluster,
                               const std::vector<RankPlace>& places, double runs);

/// A message of which both ends were seen, against what the network model says of it when both ends came as they did.
struct SeenMessage {
  core::Scope scope = core::Scope::local;
  double bytes = 0;
  bool receiver_in_time = false;      ///< it was there before the message was: what follows is a transfer
  double real_s = 0, model_s = 0;     ///< from when both were there until the receiver had it
  double latency_s = 0, bytes_s = 0;  ///< parts of model_s: intercept and slope of the transfer
  bool sender_returns = false;        ///< without waiting for the receiver: what follows is the cost of the call
  double send_s = 0, send_model_s = 0;
};

/// All that can be said of the messages of a run. Events of panels that were dropped are missing.
std::vector<SeenMessage> seen_messages(const ObservedRanks& observed, const core::NetworkModel& network,
                                       const std::vector<RankPlace>& places);

/// Factors on times of a network.
struct NetworkFactors {
  double latency = 1;    ///< on intercepts of transfers
  double bandwidth = 1;  ///< on slopes of transfers
  double calls = 1;      ///< on what send, isend and recv cost the caller
};

/// How the costs of messages of one scope differ from the model.
struct NetworkFinding : NetworkFactors {
  double held_up_s = 0;  ///< of all messages of a run: beyond ten times the usual time of their size
  double latency_s = 0, bytes_s = 0, calls_s = 0;  ///< all messages of a run: what the model has for these parts
  std::vector<MessageDifference> sizes;
};

/// `messages`: of all runs together, seen_messages() with the model. `simulated`: of a simulation with the same model,
/// or empty; what messages take there beyond the model, because flows share links, is not counted as a difference.
/// `share`: times it, sums of `messages` are those of one run.
std::map<core::Scope, NetworkFinding> network_findings(const std::vector<SeenMessage>& messages,
                                                       const std::vector<SeenMessage>& simulated, double share);

/// The same once more: `simulated` is of a simulation with the factors of `findings` (seen_messages() with the model as
/// it was), which come nearer to those of the run.
void refine(std::map<core::Scope, NetworkFinding>& findings, const std::vector<SeenMessage>& messages,
            const std::vector<SeenMessage>& simulated);

/// Reads the CSV of write_phases_csv(). @throws core::ParseError
std::vector<RankPhases> read_phases_csv(const std::filesystem::path& path);

/// The mean of several runs with as many ranks.
std::vector<RankPhases> mean_of(const std::vector<std::vector<RankPhases>>& runs);

/// Phase by phase. `predicted` may be without ranks of its own: then `summaries` say what is known of it, and no rank
/// stands out. A rank stands out if its difference is more than 2 % of the run and five robust standard deviations away
/// from the middle of all.
std::vector<PhaseDifference> phase_differences(const std::vector<RankPhases>& real,
                                               const std::vector<RankPhases>& predicted,
                                               const std::vector<core::PhaseSummary>& summaries, double predicted_s);

// --- causes: parts of the model that are replaced by what the run measured

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

/// Differences between runs and their model.
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

/// Simulations that simulate_causes() makes.
std::size_t counterfactuals_of(std::size_t causes);

/// Replaces one part after the other by what the run measured: simulated_s of each is what its step changes, so that
/// the shares and the rest add up. The mean of all orders up to three causes (Shapley 1953), else of the order of
/// `causes` and its reverse; least_s and most_s are what the orders give. All draw the same random numbers. Returns the
/// mean waiting time of the ranks with all of them replaced; without causes 0.
double simulate_causes(const ExplainRequest& request, const std::vector<RankPlace>& places, double baseline_s,
                       std::vector<Replacement>& causes);

// --- what the ranks did

/// Activity of one rank, in seconds since the start of the factorisation by one clock.
struct Timeline {
  int rank = 0;
  std::string kind;  ///< "real" or "simulated"
  std::vector<ActivityEvent> events;
  std::vector<double> waited_s;  ///< of each event
};

/// A strip per timeline, one below the other: phases above, and kernels, messages and waiting below. The time is that
/// of request.first_panel to last_panel in the real run. The size of the SVG goes with the number of strips, not with
/// that of events.
Figure timeline_figure(const std::vector<Timeline>& lines, const ExplainRequest& request);

/// Writes request.trace, if one is asked for, and draws a run and its simulation, aligned at the start of the first
/// factorisation.
Figure write_timelines(const ExplainRequest& request, const ObservedRanks& real,
                       const std::vector<RankActivity>& simulated);

/// From the predicted time to the real one: a bar for each of the largest causes, where that before ends.
Figure waterfall(const ExplanationSummary& explanation, const std::string& id);

}  // namespace hplcast::study
