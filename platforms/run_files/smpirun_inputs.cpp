#include <ostream>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::platforms {

void write_hostfile(std::ostream& out, const core::ClusterModel& cluster, int ranks) {
  const core::Hosts& hosts = cluster.hosts;
  if (ranks < 1) throw core::DomainError("ranks", ranks, "at least 1");
  if (ranks > hosts.total_cores()) {
    throw core::DomainError("ranks", ranks,
                            "at most the " + std::to_string(hosts.total_cores()) + " cores of cluster " + cluster.name +
                                " (" + std::to_string(hosts.count()) + " hosts with " +
                                std::to_string(hosts.values().cores) + " cores)",
                            "choose a grid with P*Q within that, or a larger cluster");
  }
  for (int rank = 0; rank < ranks; ++rank) {
    out << hosts.names()[static_cast<std::size_t>(rank / hosts.values().cores)] << '\n';
  }
}

std::vector<std::string> smpi_options(const core::ClusterModel& cluster) {
  return {
      // Time passes in our models only; host-speed stops SMPI from asking for the speed of this machine.
      "--cfg=smpi/simulate-computation:no",
      "--cfg=smpi/host-speed:1f",
      // HPL's globals are harmless once its timers are replaced: no copy of the program for each rank.
      "--cfg=smpi/privatization:no",
      // SimGrid's default, yes, lets a failed probe by one rank slow the probes of all others.
      std::string("--cfg=smpi/grow-injected-times:") + (cluster.network.values().growing_probes ? "yes" : "no"),
      // Delays are exact to a picosecond; smpirun's own default is a nanosecond.
      "--cfg=surf/precision:1e-12",
      "--cfg=maxmin/precision:1e-9",
  };
}

}  // namespace hplcast::platforms
