#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/history/cost.hpp"

namespace hplcast::history {

namespace {

core::DurationLaw scaled_law(const core::DurationLaw& law, double factor) {
  return core::DurationLaw::make(core::scaled(law.mu(), factor), core::scaled(law.sigma(), factor), law.noise(),
                                 law.modes());
}

core::PiecewiseLaw scaled_law(const core::PiecewiseLaw& law, double factor) {
  std::vector<core::LawPiece> pieces;
  for (const core::LawPiece& piece : law.pieces()) pieces.push_back({piece.from, scaled_law(piece.law, factor)});
  return core::PiecewiseLaw::make(law.split(), std::move(pieces));
}

}  // namespace

core::ClusterModel with_cpu_speed(const core::ClusterModel& cluster, const std::string& host, int cpu, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) throw core::DomainError("speed factor", factor, "a number > 0");
  const auto& names = cluster.hosts.names();
  const auto found = std::find(names.begin(), names.end(), host);
  if (!host.empty() && found == names.end()) {
    throw core::DomainError("host", host,
                            "a host of the cluster " + cluster.name + " (" + cluster.hosts.values().names + ")",
                            "give models of the cluster that was watched with --normal");
  }
  if (cpu >= cluster.hosts.values().cpus)
    throw core::DomainError("CPU of " + host, cpu, "below " + std::to_string(cluster.hosts.values().cpus));
  core::ClusterModel result = cluster;
  const auto kernel = result.kernels.find("dgemm");
  if (kernel == result.kernels.end()) throw core::DomainError("dgemm", "missing", "a cluster with a model of it");
  const core::KernelModel& model = kernel->second;
  std::vector<core::CpuLaw> laws;
  for (int h = 0; h < cluster.hosts.count(); ++h) {
    for (int c = 0; c < cluster.hosts.values().cpus; ++c) {
      const bool changed = (host.empty() || names[static_cast<std::size_t>(h)] == host) && (cpu < 0 || c == cpu);
      const bool own = std::any_of(model.overrides().begin(), model.overrides().end(),
                                   [&](const core::CpuLaw& law) { return law.host == h && law.cpu == c; });
      if (changed) {
        laws.push_back({h, c, scaled_law(model.law(h, c), 1 / factor)});
      } else if (own) {
        laws.push_back({h, c, model.law(h, c)});
      }
    }
  }
  kernel->second = core::KernelModel::make(model.level(), model.law(-1, -1), std::move(laws), model.range());
  return result;
}

Grid grid_of(int ranks) {
  Grid best;
  for (int P = 1; P * P <= ranks; ++P) {
    const int Q = std::min(ranks / P, 3 * P);
    if (Q < P) continue;
    // The same number of ranks on a more square grid is better, and P rises.
    if (P * Q >= best.P * best.Q) best = {P, Q};
  }
  return best;
}

}  // namespace hplcast::history
