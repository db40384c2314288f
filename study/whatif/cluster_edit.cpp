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

core::PiecewiseLaw slowed(const core::PiecewiseLaw& law, double factor) {
  return edited(law, [&](const core::DurationLaw& piece) { return slowed(piece, factor); });
}

core::KernelModel slowed(const core::KernelModel& model, double factor) {
  return edited(model, [&](const core::DurationLaw& law) { return slowed(law, factor); });
}

void slow_program(core::ProgramModel& program,
                  const std::function<void(core::KernelModel& model, const std::string& routine)>& slow,
                  double longer) {
  for (auto& [name, model] : program.routines) slow(model, name.substr(0, name.find('/')));
  for (auto& [name, region] : program.regions) {
    if (region.mode == core::RegionMode::model) slow(region.model, "");
    if (region.mode == core::RegionMode::factor) region.factor *= longer;
    region.time_s *= longer;
  }
  program.rest_s_per_call *= longer;
  program.rest_s_per_element *= longer;
}

ClusterModel with_network(ClusterModel cluster, const std::function<void(core::NetworkModel::Values&)>& edit) {
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

void scale_intercept(core::Segment& segment, double factor) {
  segment.intercept_s *= factor;
  segment.sd_s *= factor;
  for (core::MixtureMode& mode : segment.modes) {
    mode.mean *= factor;
    mode.sd *= factor;
  }
}

core::KernelModel& kernel_of(ClusterModel& cluster, const std::string& kernel) {
  const auto found = cluster.kernels.find(kernel);
  if (found == cluster.kernels.end()) {
    throw core::DomainError("kernel", kernel, "one that the cluster " + cluster.name + " has a model of");
  }
  return found->second;
}

}  // namespace hplcast::study
