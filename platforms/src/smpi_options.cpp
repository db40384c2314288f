#include "hplcast/platforms/smpi_options.hpp"

namespace hplcast::platforms {

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
