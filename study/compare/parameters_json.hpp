#pragma once

#include <nlohmann/json.hpp>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::study {

/// All HPL parameters under HPL's names.
inline nlohmann::ordered_json parameters_json(const core::HplParameters& parameters) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const core::HplField& field : core::hpl_fields()) json[field.name] = field.get(parameters);
  return json;
}

}  // namespace hplcast::study
