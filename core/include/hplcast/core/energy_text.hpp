#pragma once

#include <string>

#include "hplcast/core/energy.hpp"

namespace hplcast::core {

/// As JSON, with the keys of `energy` in prediction.json (docs/formats/prediction-json.md).
std::string energy_text(const Energy& energy);

}  // namespace hplcast::core
