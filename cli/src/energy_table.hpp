#pragma once

#include <iosfwd>
#include <string>

#include "hplcast/core/prediction.hpp"

namespace hplcast::cli {

/// Of a run of this title and time: where the energy goes, by what cores do.
void write_energy(std::ostream& out, const std::string& of, const core::Energy& energy, double time_s);

/// Of a prediction with energy: where it goes, by what cores do, and what Green500's levels would report.
void write_energy(std::ostream& out, const core::Prediction& prediction);

}  // namespace hplcast::cli
