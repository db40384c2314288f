#pragma once

#include <string>
#include <vector>

#include "hplcast/calibration/archive.hpp"
#include "hplcast/fit/campaign.hpp"
#include "hplcast/study/history.hpp"

namespace hplcast::study {

/// What a fit takes from an archive.
fit::Campaign campaign_of(const calibration::CampaignArchive& archive);

/// What a history keeps of an archive of `hplcast calibrate`: speed of dgemm per CPU, coefficients of its model where a
/// CPU has one of its own, sensors while dgemm ran, cost of messages, and the models. Times are those of the start of
/// the campaign. `notes` gets what the archive lacks.
/// @throws core::Error (bad_input) for an archive without its times, or without any call of dgemm.
CampaignRecord campaign_record(const calibration::CampaignArchive& archive, const std::string& cluster,
                               std::vector<std::string>& notes);

/// Adds the costs of messages segment by segment of the network model: the time of a message where a segment begins,
/// and the bandwidth (size / time) of one where it ends. Segments are those of `reference_json`, models of an earlier
/// campaign (empty: its own): every fit finds others, and only what is the same can be compared. Nothing for a campaign
/// without models.
void add_network_segments(CampaignRecord& record, const std::string& reference_json);

/// In words, how two protocols differ: "BLAS: OpenBLAS 0.3.21 -> OpenBLAS 0.3.26". Empty: they do not.
std::vector<std::string> protocol_differences(const std::string& before, const std::string& after);

}  // namespace hplcast::study
