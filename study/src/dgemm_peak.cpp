#include "hplcast/study/dgemm_peak.hpp"

#include <algorithm>

namespace hplcast::study {

namespace {

/// flop per second of one rank, at the best shape.
double best_rate(const core::KernelModel& dgemm, int host, int cpu) {
  double best = 0;
  for (double m = 256; m <= 262144; m *= 2) {
    for (double k = 32; k <= 1024; k *= 2) {
      const core::KernelShape shape{m, m, k};
      const double time_s = dgemm.law(host, cpu).at(shape).mean_s(shape);
      if (time_s > 0) best = std::max(best, 2 * m * m * k / time_s);
    }
  }
  return best;
}

}  // namespace

double dgemm_peak_gflops(const core::ClusterModel& cluster, int ranks) {
  const auto dgemm = cluster.kernels.find("dgemm");
  if (dgemm == cluster.kernels.end()) return 0;
  const core::Hosts::Values& hosts = cluster.hosts.values();
  double sum = 0;
  for (int host = 0; ranks > 0 && host < cluster.hosts.count(); ++host) {
    const int here = std::min(ranks, hosts.cores);
    double rates = 0;
    for (int cpu = 0; cpu < hosts.cpus; ++cpu) rates += best_rate(dgemm->second, host, cpu) / hosts.cpus;
    sum += rates * here;
    ranks -= here;
  }
  return sum / 1e9;
}

}  // namespace hplcast::study
