#pragma once

#include <cmath>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/network_model.hpp"

namespace hplcast::platforms {

/// A link of SimGrid.
struct Wire {
  double bytes_per_s = 0, latency_s = 0;
  std::string policy;  ///< of sharing: SPLITDUPLEX, SHARED, FATPIPE
};

/// Whether two latencies, or two rates, are more than rounding apart.
inline bool differ(double a, double b) {
  return std::abs(a - b) > 0.01 * b;
}

/// A host with its link to the switch.
struct XmlHost {
  std::string name;
  double flop_per_s = 0;  ///< of a core
  int cores = 1;
  Wire link;
};

/// Hosts on one switch, or in one topology.
struct HostGroup {
  std::string id, names;  ///< names: radical, see core::expand_hosts()
  std::vector<XmlHost> hosts;
  std::string router;  ///< between its switch and other groups
  std::optional<Wire> backbone, loopback;
  core::Topology topology = {};
};

/// The content of a platform file, as far as it was read.
struct PlatformFile {
  std::vector<HostGroup> groups;
  std::map<std::pair<std::size_t, std::size_t>, Wire> between;  ///< routes from the first host of a group to another's
  std::string id;                                               ///< of the zone around several groups
  std::map<std::string, std::string> settings;                  ///< of its <config>
  core::Location config;
  std::vector<std::string> losses;
};

/// `zone`: one group of hosts; empty: all. @throws ParseError
PlatformFile read_platform_file(std::istream& in, const std::string& name, const std::string& zone);

/// The message costs of one scope as the values of SimGrid properties "bound:value[:value];...".
struct XmlCosts {
  std::string os, ois, overhead_recv;  ///< smpi/os, smpi/ois, smpi/or: seconds and seconds per byte
  std::string bw_factor, lat_factor;   ///< relative to the link that the scope's bandwidth and latency belong to
};

XmlCosts xml_costs(const core::ScopeModel& scope);

/// The other way round: a scope whose messages go over links of this bandwidth, at most at the rate that TCP's window
/// allows, `window_bytes` / (2 latency) (0: no window). @throws DomainError for lists that SimGrid does not take.
core::ScopeModel scope_of(const XmlCosts& costs, double link_bytes_per_s, double latency_s, double window_bytes);

/// Losses of xml_costs() for a single message of this scope, one sentence with its size each.
std::vector<std::string> xml_cost_losses(const core::ScopeModel& scope, core::Scope which);

/// Losses of local messages that get the costs of remote ones, one sentence with its size for each list that differs.
std::vector<std::string> xml_scope_losses(const core::ScopeModel& local, const core::ScopeModel& remote);

}  // namespace hplcast::platforms
