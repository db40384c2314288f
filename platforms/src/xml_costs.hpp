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

/// What xml_costs() loses of this scope, one sentence each. `name` is "local" or "remote".
std::vector<std::string> xml_cost_losses(const core::ScopeModel& scope, const std::string& name);

}  // namespace hplcast::platforms
