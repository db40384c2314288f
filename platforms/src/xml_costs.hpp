#pragma once

#include <string>
#include <vector>

#include "hplcast/core/network_model.hpp"

namespace hplcast::platforms {

/// The message costs of one scope as the values of SimGrid properties "bound:value[:value];...".
struct XmlCosts {
  std::string os, ois, overhead_recv;  ///< smpi/os, smpi/ois, smpi/or: seconds and seconds per byte
  std::string bw_factor, lat_factor;   ///< relative to the link that the scope's bandwidth and latency belong to
};

XmlCosts xml_costs(const core::ScopeModel& scope);

/// Bandwidth factor of a segment of the transfer, relative to the scope's link.
struct XmlFactor {
  double min_bytes = 0;
  double factor = 1;
  bool only_short_messages = false;  ///< of less than 1 KiB, which fill no link
};
std::vector<XmlFactor> bandwidth_factors(const core::ScopeModel& scope);

/// Losses of xml_costs() for a single message of this scope, one sentence each.
std::vector<std::string> xml_cost_losses(const core::ScopeModel& scope, core::Scope which);

}  // namespace hplcast::platforms
