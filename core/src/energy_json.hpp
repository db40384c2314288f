#pragma once

// JSON of `energy` of a prediction.

#include "hplcast/core/energy.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

Json to_json(const Energy& energy);
Energy energy_from(const Node& node);

}  // namespace hplcast::core::detail
