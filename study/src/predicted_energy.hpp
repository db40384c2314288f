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

/// @throws core::DomainError for a cluster without power.
void require_power(const core::ClusterModel& cluster);

/// What the power model of a cluster does not say, if it has one.
std::vector<std::string> power_warnings(const core::ClusterModel& cluster);

/// The parts that the runtime counted, with states as means over the ranks, added up.
core::Energy added_energy(const core::ClusterModel& cluster, int ranks, double time_s, double gflops,
                          core::Energy counted);

/// What the power model does not say, if energy is asked for.
std::vector<std::string> energy_warnings(const PredictionRequest& request);

/// What the runtime counted, as the prediction has it. @param whole  all panels: also what meters would read
core::Energy energy_of(const PredictionRequest& request, const core::Prediction& prediction,
                       const SimulatedEnergy& counted, bool whole);

/// One row per bin: its begin, its length, mean power of all and of each host. @throws core::Error if the file cannot
/// be written.
void write_power_csv(const std::filesystem::path& path, const core::PowerTrace& trace);

}  // namespace hplcast::study
