#include "hplcast/study/transform_detours.hpp"

#include <algorithm>
#include <utility>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

namespace {

void require_some(const core::ClusterModel& cluster) {
  if (cluster.detours.empty())
    throw core::DomainError("detours of " + cluster.name, "none", "one source or more in cluster.json",
                            "add-detours adds one");
}

/// All sources edited, and validated again.
template <typename Edit>
core::ClusterModel edited(core::ClusterModel cluster, Edit edit) {
  require_some(cluster);
  for (core::DetourSource& source : cluster.detours) {
    core::DetourSource::Values values = source.values();
    edit(values);
    source = core::DetourSource::make(std::move(values));
  }
  core::check_detours(cluster.detours);
  return cluster;
}

}  // namespace

core::ClusterModel add_detours(core::ClusterModel cluster, double period_s, double duration_s, core::DetoursPer per,
                               std::vector<int> cores) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(cluster.detours.begin(), cluster.detours.end(),
                       [&](const core::DetourSource& source) { return source.values().name == name; });
  };
  int number = 1;
  while (is_taken("added-" + std::to_string(number))) ++number;
  cluster.detours.push_back(
      core::DetourSource::make({"added-" + std::to_string(number), core::PeriodicDetours(), period_s,
                                core::ConstantDuration{duration_s}, per, false, std::move(cores)}));
  core::check_detours(cluster.detours);
  core::check_detour_cores(cluster.detours, cluster.hosts.values().cores);
  return cluster;
}

core::ClusterModel scale_detours(core::ClusterModel cluster, double factor) {
  if (!(factor >= 0)) throw core::DomainError("factor of detours", factor, "a number of at least 0");
  return edited(std::move(cluster),
                [&](core::DetourSource::Values& values) { values.duration = core::scaled(values.duration, factor); });
}

core::ClusterModel synchronise_detours(core::ClusterModel cluster) {
  return edited(std::move(cluster), [](core::DetourSource::Values& values) { values.per = core::DetoursPer::cluster; });
}

}  // namespace hplcast::study
