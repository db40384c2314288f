#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit::detail {

/// The measurements of a campaign, read. Memory grows with the calls of designs, and not with those of HPL.
struct CampaignRows {
  std::map<std::string, KernelTable> kernels;     ///< all calls by kernel
  std::vector<core::KernelMeasurement> designed;  ///< those of designs that count
  std::vector<core::MpiMeasurement> messages;     ///< all rows
  std::string thresholds_name, thresholds;        ///< JSON; empty: not measured
};

/// @throws core::ParseError for damaged files.
CampaignRows read_rows(const Campaign& campaign);

/// Index of a host in the campaign; its size if it is none of them.
std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name);

/// Doubts about measurements and models, beside those that the network fit has: few calls, drift, several modes, sizes
/// that were not measured.
std::vector<QualityFlag> flags_of(const Campaign& campaign, const CampaignRows& rows,
                                  const core::ClusterModel& cluster);

}  // namespace hplcast::fit::detail
