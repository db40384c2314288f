#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/study/explain.hpp"
#include "study/activity/observed_ranks.hpp"
#include "study/activity/rank_activity.hpp"
#include "study/run/simulation_files.hpp"

namespace hplcast::study {

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
};

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

  /// Of all ranks and classes.
  double sum_of(double KernelCell::*member) const;
  double real_s() const { return sum_of(&KernelCell::real_s); }
  double model_s() const { return has_model ? sum_of(&KernelCell::model_s) : 0; }
  /// Expected by the model times the level, of one rank.
  double levelled_s(std::size_t rank) const;
  /// What the level changes in the time of one rank.
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

/// What write_phases_csv() wrote. @throws core::ParseError
std::vector<RankPhases> read_phases_csv(const std::filesystem::path& path);

/// The mean of several runs with as many ranks.
std::vector<RankPhases> mean_of(const std::vector<std::vector<RankPhases>>& runs);

/// Phase by phase. `predicted` may be without ranks of its own: then `summaries` say what is known of it, and no rank
/// stands out. A rank stands out if its difference is more than 2 % of the run and five robust standard deviations away
/// from the middle of all.
std::vector<PhaseDifference> phase_differences(const std::vector<RankPhases>& real,
                                               const std::vector<RankPhases>& predicted,
                                               const std::vector<core::PhaseSummary>& summaries, double predicted_s);

}  // namespace hplcast::study
