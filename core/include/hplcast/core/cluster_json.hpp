#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "hplcast/core/cluster_model.hpp"

namespace hplcast::core {

/// The content of cluster.json, see docs/formats/cluster-json.md. Deterministic: equal models give equal text.
void write_cluster(std::ostream& out, const ClusterModel& cluster);

/// @throws ParseError with the JSON pointer of the field: syntax, unknown schema version, missing or wrong fields.
ClusterModel read_cluster(std::istream& in, const std::string& name);

/// SHA-256 (hex) of the text that write_cluster() gives: names a model in predictions and in model.h.
std::string cluster_sha256(const ClusterModel& cluster);

/// One kernel model as it stands in cluster.json under `kernels`, as indented JSON text.
std::string kernel_model_json(const KernelModel& model);

/// The network as it stands in cluster.json under `network`.
std::string network_model_json(const NetworkModel& model);

/// Reads what kernel_model_json() wrote, in an object {"dgemm": ..., "dtrsm": ...}: the output of `fit`. @throws
/// ParseError
std::map<std::string, KernelModel> read_kernel_models(std::istream& in, const std::string& name);

/// Reads what network_model_json() wrote. @throws ParseError
NetworkModel read_network_model(std::istream& in, const std::string& name);

/// Reads a JSON object as it stands, for ClusterModel::provenance. @throws ParseError if it is anything else.
std::string read_provenance(std::istream& in, const std::string& name);

}  // namespace hplcast::core
