#include "cluster_file.hpp"

#include <iostream>

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/cluster_problems.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/verdict.hpp"

namespace hplcast::cli {

core::ClusterModel read_cluster_file(const std::string& path) {
  core::ClusterModel cluster;
  core::read_file(path, [&](std::istream& in, const std::string& name) { cluster = core::read_cluster(in, name); });
  return cluster;
}

void warn_about_quality(const std::string& command, const core::ClusterModel& cluster) {
  const std::string who = command + ": warning: the model " + cluster.name;
  for (const core::QualityFlag& doubt : core::doubts(cluster))
    std::cerr << who << ", " << doubt.subject << ": " << doubt.detail << '\n';
  const core::Verdict verdict = core::verdict_on(core::recorded_flags(cluster));
  if (verdict.usability != core::Usability::usable)
    std::cerr << who << " is " << core::to_string(verdict) << "; see provenance.quality_flags in it\n";
}

}  // namespace hplcast::cli
