#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "hplcast/study/panel_windows.hpp"
#include "hplcast/study/predict.hpp"
#include "statistics.hpp"

namespace hplcast::study {

/// The library that makes the platform; empty if it is not there.
std::filesystem::path platform_library(const SimulatorPrograms& programs);

/// HPL for the simulator. @throws as predict() if it is not there.
std::filesystem::path simulated_hpl(const SimulatorPrograms& programs);

/// One simulation: of all panels, or of a window.
struct HplSimulation {
  core::Prediction prediction;  ///< of a window: what it took and counted, not the run
  /// Simulated times, means over the ranks: of the begin of the factorisation, of the begin of each panel, and of the
  /// end.
  std::vector<double> panel_marks_s;
  CountsAtPanels counts_at_panels;  ///< of a window, before the same moments of each rank
};

/// Runs HPL on the simulator, in `folder`, which is there. @throws as predict(), but checks nothing before.
HplSimulation simulate_hpl(const PredictionRequest& request, const std::filesystem::path& folder,
                           const std::optional<PanelWindow>& window = {});

}  // namespace hplcast::study
