#pragma once

#include <iosfwd>
#include <vector>

#include "hplcast/core/prediction.hpp"

namespace hplcast::cli {

/// Of each prediction with energy: where it goes, by what cores do, and what Green500's levels would report.
void write_energy(std::ostream& out, const std::vector<core::Prediction>& predictions);

}  // namespace hplcast::cli
