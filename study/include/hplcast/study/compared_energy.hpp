#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// Energy and power of one configuration, on one side: medians.
struct EnergyMedians {
  std::size_t runs = 0;
  double energy_j = 0;
  double mean_power_w = 0;
  double gflops_per_w = 0;
};

/// Of a configuration whose energy was both measured and predicted.
struct ComparedEnergy {
  EnergyMedians real, predicted;
  double energy_error = 0;  ///< (predicted - real) / real; a ratio
  double power_error = 0;
};

/// The medians of each configuration that has an energy.
using EnergyOfConfigurations = std::map<core::HplParameters, EnergyMedians>;
/// Runs that HPL calls wrong are left out. @throws core::DomainError for energies that are not above 0.
EnergyOfConfigurations measured_energy(const std::vector<core::HplRun>& runs);
EnergyOfConfigurations predicted_energy(const std::vector<core::Prediction>& predictions);

/// Nothing unless both have the configuration (without_unused()).
std::optional<ComparedEnergy> compare_energy(const core::HplParameters& parameters, const EnergyOfConfigurations& real,
                                             const EnergyOfConfigurations& predicted);

}  // namespace hplcast::study
