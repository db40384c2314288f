#include "hplcast/platforms/sharing_losses.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "hplcast/core/csv.hpp"
#include "xml_costs.hpp"

namespace hplcast::platforms {

namespace {

/// A factor nearer to 1 is within what is known of a bandwidth.
constexpr double no_loss = 0.98;

std::optional<SharingLoss> loss_of(const core::ScopeModel& scope, core::Scope which, int matters_from_ranks) {
  const std::vector<XmlFactor> factors = bandwidth_factors(scope);
  SharingLoss loss;
  loss.scope = which;
  loss.matters_from_ranks = matters_from_ranks;
  for (const XmlFactor& one : factors) {
    if (scope.max_bytes > 0 && one.min_bytes > scope.max_bytes) break;
    loss.longest_factor = one.factor;
    if (one.only_short_messages || one.factor >= loss.least_factor) continue;
    loss.least_factor = one.factor;
    loss.least_from_bytes = one.min_bytes;
  }
  if (loss.least_factor >= no_loss) return std::nullopt;
  return loss;
}

}  // namespace

std::vector<SharingLoss> sharing_losses(const core::ClusterModel& cluster) {
  const core::NetworkModel::Values& network = cluster.network.values();
  const int cores = cluster.hosts.values().cores;
  const bool hosts_share = core::hosts_of(network.topology) || core::backbone_of(network.topology) != nullptr;
  const int remote_from = hosts_share ? 1 : 2;
  std::vector<SharingLoss> losses;
  const auto add = [&](const std::optional<SharingLoss>& loss) {
    if (loss && cores >= loss->matters_from_ranks) losses.push_back(*loss);
  };
  if (network.remote && cluster.hosts.count() > 1) add(loss_of(*network.remote, core::Scope::remote, remote_from));
  if (network.local.capacity) add(loss_of(network.local, core::Scope::local, 2));
  return losses;
}

std::string to_string(const SharingLoss& loss) {
  char factors[120];
  std::snprintf(factors, sizeof factors, "f is %.2g at least (messages from %s bytes on), %.2g for the longest",
                loss.least_factor, core::shortest(loss.least_from_bytes).c_str(), loss.longest_factor);
  return std::string(core::to_string(loss.scope)) +
         " messages that share a link: a flow of bandwidth factor f takes 1/f of it for each byte, so that all "
         "have "
         "a total of f of its bandwidth; " +
         factors + "; matters from " + std::to_string(loss.matters_from_ranks) +
         (loss.matters_from_ranks == 1 ? " rank" : " ranks") + " per host on";
}

}  // namespace hplcast::platforms
