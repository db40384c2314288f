#pragma once

// JSON of the list `detours`: a piece of cluster.json.

#include <vector>

#include "hplcast/core/detours.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

Json to_json(const std::vector<DetourSource>& sources);
std::vector<DetourSource> detours_from(const Node& list);

}  // namespace hplcast::core::detail
