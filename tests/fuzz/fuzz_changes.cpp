// What-if changes as `transform` and plans have them, a line each, `replace-nodes 1:last:newer.json`, on the first
// line's cluster of corpus/json. What they make is a cluster that is written, read and written again alike.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/transform.hpp"

namespace {

using namespace hplcast;
const std::string folder = HPLCAST_SOURCE_DIR "/tests/fuzz/corpus/json/";

std::vector<core::ClusterModel> bases() {
  std::vector<core::ClusterModel> read;
  for (const char* name : {"cluster.json", "cluster-kinds.json", "cluster-rails.json", "cluster-routes.json"}) {
    std::ifstream in(folder + name);
    read.push_back(core::read_cluster(in, name));
  }
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<core::ClusterModel> clusters = bases();
  if (size > 10000) return 0;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  std::vector<study::Transformation> changes;
  for (std::string line; std::getline(in, line) && changes.size() < 6;) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    std::string argument = line.substr(std::min(blank + 1, line.size()));
    const std::size_t file = argument.find("newer.json");
    if (file != std::string::npos) argument.insert(file, folder);
    changes.push_back({line.substr(0, blank), argument});
  }
  for (const core::ClusterModel& cluster : clusters) try {
      const core::ClusterModel changed = study::transformed(cluster, changes);
      if (changed.hosts.names().size() > 2000) continue;  // seconds, and no other ways
      std::ostringstream first, second;
      core::write_cluster(first, changed);
      std::istringstream again(first.str());
      core::write_cluster(second, core::read_cluster(again, "fuzz"));
      if (first.str() != second.str()) std::abort();
    } catch (const core::Error&) {  // what bad input is meant to end with
    }
  return 0;
}
