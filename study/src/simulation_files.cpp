#include "simulation_files.hpp"

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/platforms/hostfile.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/platforms/smpi_options.hpp"

namespace hplcast::study {

SimulationFiles write_simulation_files(const core::ClusterModel& cluster, int ranks,
                                       const std::filesystem::path& platform_library,
                                       const std::filesystem::path& folder) {
  SimulationFiles files;
  files.cluster = folder / "cluster.json";
  files.hostfile = folder / "hostfile";
  files.options = platforms::smpi_options(cluster);
  core::write_file(files.cluster, [&](std::ostream& out) { core::write_cluster(out, cluster); });
  core::write_file(files.hostfile, [&](std::ostream& out) { platforms::write_hostfile(out, cluster, ranks); });
  if (!platform_library.empty()) {  // messages are simulated several times faster with it
    files.platform = platform_library;
  } else {
    files.platform = folder / "platform.xml";
    core::write_file(files.platform, [&](std::ostream& out) { platforms::write_platform_xml(out, cluster); });
  }
  return files;
}

}  // namespace hplcast::study
