#pragma once

// The keys and types of cluster.json at every level, for its reader and for check-cluster.

#include <vector>

#include "hplcast/core/cluster_problems.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

/// Problems of the keys and types of a whole file, or of its pieces that have files of their own. The ranges of values
/// are what make() of the models checks.
std::vector<Problem> schema_problems(const Json& cluster);
std::vector<Problem> kernels_schema_problems(const Json& kernels);  ///< {"dgemm": model, ...}
std::vector<Problem> network_schema_problems(const Json& network);
std::vector<Problem> detours_schema_problems(const Json& detours);  ///< {"detours": [...]}
std::vector<Problem> power_schema_problems(const Json& power);      ///< {"power": {...}}

/// @throws ParseError with the first problem, and the number of the others.
void require_none(const std::vector<Problem>& problems, const std::string& file);

}  // namespace hplcast::core::detail
