// JSON of the pieces of cluster.json that have sources of their own, and the problems of its keys and types.
#pragma once

#include <vector>

#include "core/base/json_fields.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/doubts.hpp"

namespace hplcast::core {

namespace detail {

/// Problems of a whole file, but for those of references from one part of it to another.
std::vector<Problem> schema_problems(const Json& cluster);

/// `power` of versions 1 and 2 of the file.
PowerModel power_from_four_numbers(const Node& node, int cores);

/// Overrides that have a `kind` of hosts in place of a host become those of its hosts, but of those that have one of
/// their own. @throws ParseError for unknown kinds.
void expand_kinds(Json& cluster, const std::string& file, const Hosts& hosts);
/// The opposite: overrides that all hosts of a kind have alike become one.
void collect_kinds(Json& cluster, const Hosts& hosts);

}  // namespace detail

detail::Json own_json(const KernelModel& model);
void take_own(const detail::Node& node, KernelModel& model);
detail::Json own_json(const NetworkModel& model);
void take_own(const detail::Node& node, NetworkModel& model);
detail::Json own_json(const PowerModel& model);
void take_own(const detail::Node& node, PowerModel& model);

}  // namespace hplcast::core
