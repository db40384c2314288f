#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/prediction.hpp"

namespace hplcast::study {

/// What is to be best. All but the first need Prediction::energy.
enum class Objective {
  gflops,           ///< Gflop/s
  gflops_per_watt,  ///< Gflop/s per W: of one order of the matrix the same ranking as energy
  energy,           ///< J, less is better
  edp               ///< energy delay product in J s, less is better
};

const std::vector<std::string>& objective_names();
/// By its name: "gflops", "gflops-per-watt", "energy", "edp".
std::optional<Objective> objective_from_name(const std::string& name);
const char* to_string(Objective objective);
/// "Gflop/s per W".
const char* unit_of(Objective objective);
bool needs_energy(Objective objective);

/// More is better: the rate, the rate per W, 1/J, 1/(J s). @throws core::DomainError for a prediction without energy
/// where that is needed.
double merit(Objective objective, const core::Prediction& prediction);
/// A merit in the unit of the objective: what less is better of, too.
double in_unit(Objective objective, double merit);

}  // namespace hplcast::study
