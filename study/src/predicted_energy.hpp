#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/study/predict.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// @throws core::DomainError if energy is asked for of a cluster without power; core::UsageError if nobody can count
/// it.
void check_energy(const PredictionRequest& request);

/// What the power model does not say, if energy is asked for.
std::vector<std::string> energy_warnings(const PredictionRequest& request);

/// What the runtime counted, as the prediction has it. @param whole  all panels: also what meters would read
core::Energy energy_of(const PredictionRequest& request, const core::Prediction& prediction,
                       const SimulatedEnergy& counted, bool whole);

/// One row per bin: its begin, its length, mean power of all and of each host. @throws core::Error if the file cannot
/// be written.
void write_power_csv(const std::filesystem::path& path, const core::PowerTrace& trace);

}  // namespace hplcast::study
