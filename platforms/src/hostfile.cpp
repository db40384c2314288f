#include "hplcast/platforms/hostfile.hpp"

#include <ostream>
#include <string>

#include "hplcast/core/errors.hpp"

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

}  // namespace hplcast::platforms
