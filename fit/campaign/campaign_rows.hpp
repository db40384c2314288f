#pragma once

#include <map>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {

/// One measured call, as a share of the duration that its model expects.
struct RelativeCall {
  double start_s = 0;
  double ratio = 1;
};

/// Doubts about a model, from calls that were made in random order (else the sizes are mistaken for the time):
///   too_few_repetitions: fewer than 30 calls: neither mean nor noise are certain;
///   drift: the last third of the time is slower or faster than the first by more than 3 percent (medians), and not by
///     chance (Mann and Whitney, p < 0.001);
///   several_modes: a mixture of normal laws on the logarithms finds two modes of at least 10 percent of the calls,
///     more than 10 percent and two standard deviations of both apart.
/// @throws core::DomainError for ratios that are not positive and finite.
std::vector<QualityFlag> quality_flags(const std::string& subject, std::vector<RelativeCall> calls);

}  // namespace hplcast::fit

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
