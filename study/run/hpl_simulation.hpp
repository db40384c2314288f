#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/study/predict.hpp"
#include "study/run/simulation_files.hpp"

namespace hplcast::study {

/// The library that makes the platform; empty if it is not there.
std::filesystem::path platform_library(const SimulatorPrograms& programs);

/// HPL for the simulator. @throws as predict() if it is not there.
std::filesystem::path simulated_hpl(const SimulatorPrograms& programs);

/// One simulation: of all panels, or of a window.
struct HplSimulation {
  core::Prediction prediction;   ///< of a window: what it took and counted, not the run
  core::SimulatedPanels panels;  ///< where the program told of them
};

/// Runs HPL on the simulator, all panels or the window of the plan, in `folder`, which is there. @throws as predict()
HplSimulation simulate_hpl(const RunPlan& plan, const std::filesystem::path& folder, const SimulationWatch& watch = {});

/// @throws core::DomainError for a cluster without power.
void require_power(const core::ClusterModel& cluster);

/// Warnings of states missing in the power model of a cluster, if it has one.
std::vector<std::string> power_warnings(const core::ClusterModel& cluster);

/// The parts that the runtime counted, with states as means over the ranks, added up.
core::Energy added_energy(const core::ClusterModel& cluster, int ranks, double time_s, double gflops,
                          core::Energy counted);

/// Energy of a prediction, from the runtime's counts. All panels: also what meters would read.
core::Energy energy_of(const RunPlan& plan, const core::Prediction& prediction, const core::SimulatedEnergy& counted);

/// One row per bin: its begin, its length, mean power of all and of each host. @throws core::Error if the file cannot
/// be written.
void write_power_csv(const std::filesystem::path& path, const core::PowerTrace& trace);

}  // namespace hplcast::study
