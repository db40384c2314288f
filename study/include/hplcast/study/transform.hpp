#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::study {

/// The argument of a transformation that no cluster could be transformed by. Exit code bad_input.
class TransformationFormError : public core::DomainError {
 public:
  using core::DomainError::DomainError;
};

/// A what-if change by name, as it stands in plans and on the command line: {"remove-nodes", "4:slowest"}.
struct Transformation {
  std::string name;
  std::string argument;
};

/// A change that there is (docs/use/transform.md).
struct TransformationInfo {
  std::string name;
  std::string argument;  ///< its form: "FACTOR"
  std::string description;
};
const std::vector<TransformationInfo>& transformations();
bool is_transformation(const std::string& name);

/// The cluster with all changes, in their order; its provenance lists them. An argument "none" changes nothing: a level
/// of a factor.
/// @throws core::DomainError for an unknown name, an argument that cannot be read, or what the change itself throws.
core::ClusterModel transformed(core::ClusterModel cluster, const std::vector<Transformation>& transformations);

}  // namespace hplcast::study
