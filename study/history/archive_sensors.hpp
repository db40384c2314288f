#pragma once

#include "hplcast/calibration/archive.hpp"
#include "hplcast/study/history.hpp"

namespace hplcast::study {

/// Adds what the sensors read while dgemm was measured, as means: frequency and temperature of a host (of its CPU, if
/// it has one), power of each CPU package and its memory. @throws core::ParseError for damaged files.
void add_sensors(const calibration::CampaignArchive& archive, CampaignRecord& record);

}  // namespace hplcast::study
