#include "cluster_file.hpp"

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::cli {

core::ClusterModel read_cluster_file(const std::string& path) {
  core::ClusterModel cluster;
  core::read_file(path, [&](std::istream& in, const std::string& name) { cluster = core::read_cluster(in, name); });
  return cluster;
}

}  // namespace hplcast::cli
