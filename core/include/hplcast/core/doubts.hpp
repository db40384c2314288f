#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/network_model.hpp"

namespace hplcast::core {

/// A doubt about measurements, or about a model made from them, in words for people.
struct QualityFlag {
  std::string subject;  ///< a kernel, an operation of MPI, a host, a scope, topology
  std::string flag;     ///< too_few_repetitions, drift, capacity_unknown ... (docs/use/fit-cluster.md)
  std::string detail;   ///< with numbers
};

// Doubts about a network model where messages share links. All texts about them are here.

/// A message size, and the bandwidth of a single message of that size in an empty network.
struct SingleFlow {
  double size_bytes = 0;
  double bytes_per_s = 0;  ///< wire bytes over expected time in the network
  bool is_panel = false;
};

/// The fastest message of a scope of 64 KiB or more, also of panels, among the sizes measured (up to the start of the
/// last segment where that is not known). Messages that cost nothing are left out; nothing if there are no others.
std::optional<SingleFlow> fastest_flow(const ScopeModel& scope);

/// capacity_below_rate: a single message is faster than the capacity, the total of all messages, by more than 5 % and
/// the interval of the capacity. The simulator limits it to the capacity. On a fat tree, torus or dragonfly every link
/// has that capacity.
std::optional<QualityFlag> capacity_below_rate(const NetworkModel& network, Scope which);

/// slow_backbone: a single message between hosts is faster than the backbone that all of them share.
std::optional<QualityFlag> slow_backbone(const NetworkModel& network);

/// capacity_unknown: it was neither measured nor published nor given; states the assumption.
std::optional<QualityFlag> capacity_unknown(const NetworkModel& network, Scope which);

/// capacity_below_rate() of each scope that there is, and slow_backbone().
std::vector<QualityFlag> contradictions(const NetworkModel& network);

// Errors and doubts in a cluster.json. All texts about it are here.

/// One thing that is wrong or doubtful in a file.
struct Problem {
  bool is_error = true;  ///< false: the file can be used, but may not say what was meant
  std::string field;     ///< JSON pointer
  std::string message;   ///< what was found and what was expected
  std::string hint;      ///< may be empty
};

/// All problems of a cluster.json at once: unknown, missing and doubled keys, values of another type or outside their
/// range, and doubts(). Never throws because of what is in the file. `cluster`: becomes what was read, unless there are
/// errors.
std::vector<Problem> cluster_problems(std::istream& in, const std::string& name,
                                      std::optional<ClusterModel>* cluster = nullptr);

/// `poor_fit` or `no_fit` of dgemm, if its fit says that the formula explains less than 90 or 50 percent of the
/// variation of its calls. dgemm is nearly all of HPL's time; of other kernels, whose calls are short and scatter, it
/// says little.
std::optional<QualityFlag> formula_flag(const ClusterModel& cluster);

/// `implausible`, `negative_sigma`, `negative_in_the_middle`: numbers that no machine has, such as a core of 28
/// Tflop/s, with the limit and the mistake that they look like (docs/formats/cluster-json.md#plausible-numbers).
std::vector<QualityFlag> implausible(const ClusterModel& cluster);

/// The same for the updates of a run, from its first panel to half of its matrix: kernels that take no time there, or
/// scatter too much, or dgemm at a rate that no core has, though they do not for the sizes of implausible().
std::vector<QualityFlag> implausible_in(const ClusterModel& cluster, const HplParameters& run);

/// Doubts about a model that can be read: implausible(), several hosts without costs of messages between them, costs of
/// messages or kernels that are never positive, or negative for some sizes (simulated as 0); and formula_flag().
std::vector<QualityFlag> doubts(const ClusterModel& cluster);

/// The kernels that every run of HPL spends time in, and that have no model. The others depend on the run:
/// study/predict.hpp lists them after it.
std::vector<QualityFlag> missing_kernels(const ClusterModel& cluster);

// The meaning of measurements' flags for predictions.

enum class Usability { usable, doubtful, unusable };
HPLCAST_ENUM_NAMES(Usability, "usability", "usable", "doubtful", "unusable");

/// Usability of a model with one flag. Unusable: `oversubscribed`, `no_fit`, and `too_few_repetitions` of dgemm,
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
