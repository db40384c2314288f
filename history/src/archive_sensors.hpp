#pragma once

#include "hplcast/calibration/campaign_archive.hpp"
#include "hplcast/history/records.hpp"

namespace hplcast::history {

/// Adds what the sensors read while dgemm was measured, as means: frequency and temperature of a host (of its CPU, if
/// it has one), power of each CPU package and its memory. @throws core::ParseError for damaged files.
void add_sensors(const calibration::CampaignArchive& archive, CampaignRecord& record);

}  // namespace hplcast::history
