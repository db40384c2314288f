#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/quality_flag.hpp"

/// What is wrong, or doubtful, in a cluster.json. All texts about it are here and in network_checks.hpp.
namespace hplcast::core {

/// One thing that is wrong or doubtful in a file.
struct Problem {
  bool is_error = true;  ///< else: the file can be used, but may not say what was meant
  std::string field;     ///< JSON pointer
  std::string message;   ///< what was found and what was expected
  std::string hint;      ///< may be empty
};

/// All problems of a cluster.json at once: unknown, missing and doubled keys, values of another type or outside their
/// range, and doubts(). Never throws because of what is in the file.
std::vector<Problem> cluster_problems(std::istream& in, const std::string& name);

/// `poor_fit` or `no_fit` of dgemm, if its fit says that the formula explains less than 90 or 50 percent of the
/// variation of its calls. dgemm is nearly all of HPL's time; of other kernels, whose calls are short and scatter, it
/// says little.
std::optional<QualityFlag> formula_flag(const ClusterModel& cluster);

/// What a model that can be read probably does not mean: several hosts without costs of messages between them, costs of
/// messages or kernels that are never positive, or negative for some sizes (simulated as 0); and formula_flag().
std::vector<QualityFlag> doubts(const ClusterModel& cluster);

/// The kernels that every run of HPL spends time in, and that have no model. What others are called depends on the run:
/// study/free_kernels.hpp tells after it.
std::vector<QualityFlag> missing_kernels(const ClusterModel& cluster);

}  // namespace hplcast::core
