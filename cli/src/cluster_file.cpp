#include "cluster_file.hpp"

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/cluster_problems.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::cli {

core::ClusterModel read_cluster_file(const std::string& path) {
  core::ClusterModel cluster;
  core::read_file(path, [&](std::istream& in, const std::string& name) { cluster = core::read_cluster(in, name); });
  return cluster;
}

void warn_about_quality(const core::ClusterModel& cluster) {
  for (const core::QualityFlag& doubt : core::doubts(cluster))
    std::cerr << "warning: the model " << cluster.name << ", " << doubt.subject << ": " << doubt.detail << '\n';
  const nlohmann::json provenance = nlohmann::json::parse(cluster.provenance, nullptr, false);
  if (!provenance.is_object() || !provenance.contains("quality_flags")) return;
  std::map<std::string, int> counts;
  for (const nlohmann::json& flag : provenance["quality_flags"])
    if (flag.is_object()) ++counts[flag.value("flag", "unknown")];
  std::string text;
  for (const auto& [flag, count] : counts)
    text += (text.empty() ? "" : ", ") + flag + (count > 1 ? " (" + std::to_string(count) + ")" : "");
  if (!text.empty())
    std::cerr << "warning: the measurements behind the model " << cluster.name << " are flagged: " << text
              << "; see provenance.quality_flags in it\n";
}

}  // namespace hplcast::cli
