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

/// Losses of xml_costs() for a single message of this scope, one sentence with its size each.
std::vector<std::string> xml_cost_losses(const core::ScopeModel& scope, core::Scope which);

/// Losses of local messages that get the costs of remote ones, one sentence with its size for each list that differs.
std::vector<std::string> xml_scope_losses(const core::ScopeModel& local, const core::ScopeModel& remote);

}  // namespace hplcast::platforms
