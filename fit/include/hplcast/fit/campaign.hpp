#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/network_fit.hpp"

/// The one road from measurements to a cluster.json.
namespace hplcast::fit {

/// A host that measured.
struct MeasuredHost {
  std::string name;
  double memory_bytes = 0;
  std::vector<int> rank_cpus;  ///< CPU of each local rank, in their order; the model numbers these CPUs from 0
};

/// The number of a CPU in models, and wherever else CPUs are told apart: those with ranks from 0, others behind them.
int cpu_in_model(const MeasuredHost& host, int cpu);

/// Sizes of an HPL run that models must cover.
struct HplSizes {
  std::string run;                         ///< for people: N=7000, NB=128, 1x2
  std::vector<core::KernelShape> updates;  ///< of the trailing matrix, by dgemm
  double longest_message_bytes = 0;        ///< 0: it sends none
};

/// Measurements, and what is known of their surroundings.
struct Campaign {
  std::vector<MeasuredHost> hosts;                  ///< at least one
  std::vector<int> cpu_of_rank = {};                ///< of each rank of all hosts, as the model numbers them
  int threads_per_rank = 1;                         ///< of the BLAS, each on a core of its own
  std::map<std::string, std::string> measurements;  ///< texts by name: CSV of kernels and of MPI, JSON of thresholds
  std::string origin = "{}";        ///< a JSON object for the provenance: what was measured, when, where
  std::vector<QualityFlag> doubts;  ///< about the hosts, known before the fit
  std::string controls;             ///< control.csv; empty: not measured
  std::optional<HplSizes> must_cover;
  /// Hosts by the name of their kind, each fitted by itself; the others are of one kind, but for those that have
  /// another number of ranks than most.
  std::vector<std::pair<std::string, std::vector<std::string>>> kinds;
  bool idle_messages = false;  ///< those count that were measured while the ranks did nothing else
};

/// All that a fit takes from an archive.
Campaign campaign_of(const core::CampaignArchive& archive);

struct CampaignFit {
  core::ClusterModel cluster;  ///< with `origin`, flags and notes in its provenance
  std::map<std::string, KernelFit> kernels;
  NetworkFit network;
  std::vector<QualityFlag> flags;  ///< all: of the hosts, the measurements, the models
  std::vector<std::string> notes;  ///< what was left out or assumed
};

/// The whole way: hosts, kernels (of each kind of hosts; those with calls of a design with a law for each CPU, if
/// several were measured), network, and what makes them doubtful. row_rules.hpp decides which rows count. The cluster
/// has the name of its first host. The result depends on the argument only.
/// @throws core::ParseError for damaged files, core::Error (bad_input) without measured kernels, core::Error
/// (no_acceptable_fit) that names what cannot be fitted.
CampaignFit fit_campaign(const Campaign& campaign);

}  // namespace hplcast::fit
