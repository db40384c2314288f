#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/campaign.hpp"

/// Measured rows of a campaign beside what its models expect of them.
namespace hplcast::fit {

/// True for rows of messages, false for those of kernels.
bool is_mpi(const std::string& name, const std::string& text);
/// Index of a host in the campaign; its size if it is none of them.
std::size_t index_of(const std::vector<MeasuredHost>& hosts, const std::string& name);

/// Expected duration of a call on its host and CPU.
double expected_s(const core::ClusterModel& cluster, const std::vector<MeasuredHost>& hosts,
                  const core::KernelMeasurement& row);
/// Expected duration of a message; 0 for operations whose model is one number.
double expected_s(const core::NetworkModel& network, const core::MpiMeasurement& row);

/// How well each group of durations is known, of the models of `fit`, from resampled blocks of the campaign's rows:
/// those of designs that count, and all messages; calls of HPL are read again. Groups that cannot be told are left out.
void add_group_errors(const Campaign& campaign, const std::vector<core::KernelMeasurement>& designed,
                      const std::vector<core::MpiMeasurement>& messages, CampaignFit& fit);

}  // namespace hplcast::fit
