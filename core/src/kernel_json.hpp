#pragma once

// JSON of kernel and network models: pieces of cluster.json.

#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/network_model.hpp"
#include "json_fields.hpp"

namespace hplcast::core::detail {

Json to_json(const KernelModel& model);
KernelModel kernel_model_from(const Node& node);

Json to_json(const std::vector<MixtureMode>& modes);
std::vector<MixtureMode> modes_from(const Node& node);

Json to_json(const NetworkModel& model);
NetworkModel network_model_from(const Node& node);

}  // namespace hplcast::core::detail
