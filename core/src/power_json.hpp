#pragma once

// JSON of `power`: a piece of cluster.json.

#include <optional>

#include "hplcast/core/power.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

Json to_json(const PowerModel& model);
/// @param cores of a host: for the four numbers of versions 1 and 2. Without them that form is refused.
PowerModel power_from(const Node& node, std::optional<int> cores);

}  // namespace hplcast::core::detail
