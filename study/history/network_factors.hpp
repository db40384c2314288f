#pragma once

#include "hplcast/core/network_model.hpp"
#include "hplcast/study/history.hpp"

namespace hplcast::study {

/// Where the costs of messages are observed: inside the host of a campaign of one, inside hosts, between hosts.
Place network_place(const CampaignRecord& record, core::Scope scope);

/// Adds the time of a short message, and the bandwidths of two sizes.
void add_messages(const core::NetworkModel& network, CampaignRecord& record);

}  // namespace hplcast::study
