#pragma once

#include <iosfwd>

#include "hplcast/core/prediction.hpp"

namespace hplcast::cli {

/// Of a prediction with energy: where it goes, by what cores do, and what Green500's levels would report.
void write_energy(std::ostream& out, const core::Prediction& prediction);

}  // namespace hplcast::cli
