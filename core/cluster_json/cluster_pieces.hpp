// JSON of the pieces of cluster.json (kernels, network, power, program), and the problems of their keys and types.
#pragma once

#include <optional>
#include <vector>

#include "core/base/json_fields.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/detours.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/core/power_model.hpp"

namespace hplcast::core::detail {

/// Problems of the keys and types of a whole file, or of its pieces that have files of their own. The ranges of values
/// are what make() of the models checks.
std::vector<Problem> schema_problems(const Json& cluster);
std::vector<Problem> kernels_schema_problems(const Json& kernels);  ///< {"dgemm": model, ...}
std::vector<Problem> network_schema_problems(const Json& network);
std::vector<Problem> detours_schema_problems(const Json& detours);  ///< {"detours": [...]}

/// @throws ParseError with the first problem, and the number of the others.
void require_none(const std::vector<Problem>& problems, const std::string& file);

Json to_json(const NetworkModel& model);
NetworkModel network_model_from(const Node& node);

Json to_json(const PowerModel& model);
/// @param cores of a host: for the four numbers of versions 1 and 2. Without them that form is refused.
PowerModel power_from(const Node& node, std::optional<int> cores);

/// `program` of cluster.json.
Json to_json(const ProgramModel& program);
ProgramModel program_model_from(const Node& node);

}  // namespace hplcast::core::detail

namespace hplcast::core {

detail::Json own_json(const KernelModel& model);
void take_own(const detail::Node& node, KernelModel& model);

}  // namespace hplcast::core
