#pragma once

#include <array>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "rank_activity.hpp"
#include "rank_places.hpp"

namespace hplcast::study {

/// Calls of one rank in one class of size: of all runs together.
struct KernelCell {
  double calls = 0, real_s = 0, model_s = 0;
  double variance_s2 = 0;  ///< of the sum of the durations, by the model
};
using ClassCells = std::array<KernelCell, HPLCAST_SHAPE_CLASS_COUNT>;
using ClassFactors = std::array<double, HPLCAST_SHAPE_CLASS_COUNT>;

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

  double real_s() const;
  double model_s() const;
  /// Expected by the model times the level, of one rank.
  double levelled_s(std::size_t rank) const;
  /// What the level changes in the time of one rank.
  double level_change_s(std::size_t rank) const;
  /// Standard deviation of real_s() by chance, as the model has it.
  double chance_s() const;
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

}  // namespace hplcast::study
