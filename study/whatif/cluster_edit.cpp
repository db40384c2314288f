#include "study/whatif/cluster_changes.hpp"

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

double require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw core::DomainError(name, value, "a positive number");
  return value;
}

core::PiecewiseLaw edited(const core::PiecewiseLaw& law, const LawEdit& edit) {
  std::vector<core::LawPiece> pieces = law.pieces();
  for (core::LawPiece& piece : pieces) piece.law = edit(piece.law);
  return core::PiecewiseLaw::make(law.split(), std::move(pieces));
}

core::KernelModel edited(const core::KernelModel& model, const LawEdit& edit) {
  std::vector<core::CpuLaw> overrides = model.overrides();
  for (core::CpuLaw& law : overrides) law.law = edited(law.law, edit);
  return core::KernelModel::make(model.level(), edited(model.cluster_law(), edit), std::move(overrides), model.range());
}

core::DurationLaw slowed(const core::DurationLaw& law, double factor) {
  return core::DurationLaw::make(core::scaled(law.mu(), factor), core::scaled(law.sigma(), factor), law.noise(),
                                 law.modes());
}

core::ClusterModel with_network(core::ClusterModel cluster,
                                const std::function<void(core::NetworkModel::Values&)>& edit) {
  core::NetworkModel::Values values = cluster.network.values();
  edit(values);
  cluster.network = core::NetworkModel::make(std::move(values));
  return cluster;
}

void edit_segments(core::SegmentedLaw& law, const std::function<void(core::Segment&)>& edit) {
  std::vector<core::Segment> segments = law.segments();
  for (core::Segment& segment : segments) edit(segment);
  law = core::SegmentedLaw::make(std::move(segments));
}

core::KernelModel& kernel_of(core::ClusterModel& cluster, const std::string& kernel) {
  const auto found = cluster.kernels.find(kernel);
  if (found == cluster.kernels.end()) {
    throw core::DomainError("kernel", kernel, "one that the cluster " + cluster.name + " has a model of");
  }
  return found->second;
}

}  // namespace hplcast::study
