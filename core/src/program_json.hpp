#pragma once

#include "hplcast/core/program_model.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

/// `program` of cluster.json.
Json to_json(const ProgramModel& program);
ProgramModel program_model_from(const Node& node);

}  // namespace hplcast::core::detail
