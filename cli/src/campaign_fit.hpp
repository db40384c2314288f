#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/calibration/hpl_calls.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/network_fit.hpp"
#include "hplcast/fit/quality.hpp"

namespace hplcast::cli {

/// The files of a campaign by their path in it (docs/calibrate.md).
using CampaignFiles = std::map<std::string, std::string>;

/// Reads an archive, or the folder of a campaign, also of one that is not finished.
/// @throws core::Error (bad_input) if that is no campaign.
CampaignFiles read_campaign_files(const std::string& path);

/// The input that fit_campaign() takes from the files.
struct CampaignData {
  std::string name;
  calibration::MeasurementContext context;
  std::vector<core::KernelMeasurement> designed;    ///< dgemm calls of a design, in random order
  std::map<std::string, fit::KernelTable> kernels;  ///< all calls by kernel, also those that HPL made
  std::vector<core::MpiMeasurement> messages;       ///< one pair at a time
  std::vector<core::MpiMeasurement> saturation;     ///< operation one_way: of several pairs at once
  std::string thresholds;                           ///< JSON; empty: not measured
  std::vector<std::string> notes;                   ///< what was left out, and why
};

/// @throws core::ParseError for damaged files, core::Error (bad_input) without hosts or kernels.
CampaignData read_campaign_data(const CampaignFiles& files);

struct CampaignFit {
  core::ClusterModel cluster;  ///< with flags and surroundings in its provenance
  std::map<std::string, fit::KernelFit> kernels;
  fit::NetworkFit network;
  std::vector<fit::QualityFlag> flags;
};

/// The whole way from measurements to a cluster: hosts, kernels (dgemm with a law for each CPU if there are several),
/// network, and what makes them doubtful. The result depends on the files only.
/// @throws core::Error (no_acceptable_fit) that names what cannot be fitted.
CampaignFit fit_campaign(const CampaignFiles& files, const std::optional<calibration::HplGrid>& for_hpl);

/// All doubts about the measurements and the models; `for_hpl`: a run that they must cover.
std::vector<fit::QualityFlag> campaign_flags(const CampaignFiles& files, const CampaignData& data,
                                             const core::ClusterModel& cluster,
                                             const std::optional<calibration::HplGrid>& for_hpl);

}  // namespace hplcast::cli
