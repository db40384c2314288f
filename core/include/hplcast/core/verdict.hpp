#pragma once

#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/quality_flag.hpp"

/// What the flags of measurements mean for who predicts with them.
namespace hplcast::core {

enum class Usability { usable, doubtful, unusable };

/// "usable", "doubtful", "unusable".
const char* to_string(Usability usability);

/// What becomes of a model with one flag. Unusable: `oversubscribed`, `no_fit`, and `too_few_repetitions` of dgemm,
/// which is nearly all of HPL's time. Usable: `capacity_unknown` and `capacity_lower_bound`, which predictions tell
/// where they matter. Doubtful: all others.
Usability usability_with(const QualityFlag& flag);

struct Verdict {
  Usability usability = Usability::usable;  ///< the worst of all flags
  std::vector<QualityFlag> reasons;         ///< the flags that make it what it is
};

Verdict verdict_on(const std::vector<QualityFlag>& flags);

/// "usable"; "doubtful because of drift (dgemm, send local) and throttling (node-1 cpu0)".
std::string to_string(const Verdict& verdict);

/// The flags that `fit cluster` has written into the provenance of a model; none if it was made in another way.
std::vector<QualityFlag> recorded_flags(const ClusterModel& cluster);

/// Everything doubtful about a model: recorded_flags() that do not leave it usable, and doubts(). One line each.
std::vector<std::string> model_doubts(const ClusterModel& cluster);

}  // namespace hplcast::core
