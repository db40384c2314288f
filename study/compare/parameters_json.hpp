#pragma once

#include <nlohmann/json.hpp>

#include "hplcast/core/hpl_parameters.hpp"

/// HPL's parameters in JSON: all of them under HPL's names.
template <>
struct nlohmann::adl_serializer<hplcast::core::HplParameters> {
  template <typename Json>
  static void to_json(Json& json, const hplcast::core::HplParameters& parameters) {
    json = Json::object();
    for (const hplcast::core::HplField& field : hplcast::core::hpl_fields()) json[field.name] = field.get(parameters);
  }
  template <typename Json>
  static void from_json(const Json& json, hplcast::core::HplParameters& parameters) {
    for (const hplcast::core::HplField& field : hplcast::core::hpl_fields())
      field.set(parameters, json.at(field.name).template get<long long>());
  }
};
