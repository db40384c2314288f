#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/measurement.hpp"

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

/// With hosts of these names, which have models and watts of the old ones by their number. @throws core::DomainError
/// for more or less hosts where the topology is more than one switch, and for kinds, or frequencies, of hosts that are
/// gone.
core::ClusterModel with_host_names(core::ClusterModel cluster, const std::string& names);

/// The machine as controls find it now, beside the calibration of a model.
struct ControlNow {
  core::Control calibration, now;
  double coefficient = 0;  ///< share of the change that counts: the rest is the scatter of the controls of now
  double slower = 1;       ///< durations of kernels now over those at the calibration: (now / calibration)^coefficient
};
/// Makes all kernels as fast as the machine is now; the control in the provenance is that of now, with the range of the
/// calibration (docs/models/control.md). @throws core::InputError if the cluster has no control;
/// core::DomainError for controls of another shape, or none.
ControlNow at_control(core::ClusterModel& cluster, const std::vector<core::ControlRows>& controls);

/// A cluster for runs of fewer ranks per host than it was measured with.
struct BusyRanks {
  std::string text;                           ///< what there is to say; empty: nothing
  std::optional<core::ClusterModel> cluster;  ///< nothing: as it is
};

/// With so many ranks per host, fewer than `ranks_per_host` of the provenance, dgemm takes what `alone` of the
/// provenance says on one rank, and between one and all of them a power of that, in equal steps
/// (docs/models/kernel-models.md#fewer-ranks-per-host). What was done stands in the provenance, so that a second call
/// changes nothing.
BusyRanks with_busy_ranks(const core::ClusterModel& cluster, int ranks_per_host);

/// Which level of detail of its models a cluster is simulated with (names: docs/models/kernel-models.md). The default
/// keeps everything.
struct ModelLevels {
  bool noise = true;           ///< false: every kernel call takes its expected time (N0)
  bool network_noise = true;   ///< false: every message takes its expected time
  bool detours = true;         ///< false: none of those of cluster.json
  bool growing_probes = true;  ///< false: a probe always costs the same (core::NetworkModel::Values::growing_probes)
  bool per_cpu = true;         ///< false: all CPUs alike, with the mean coefficients over the CPUs
  std::optional<std::string>
      kernel_model;  ///< M1: one product of the sizes a kernel; M2: dgemm must have more than one
};

/// The cluster at these levels. To M1: the model of a kernel becomes c P, P being the product of the highest degree in
/// its mu and c the ratio of the sums of mu and P over a logarithmic grid of the sizes that the model was fitted on
/// (m, n from 128 to 8192 and k from 64 to 512 where these are not known); sigma stays.
/// @throws core::DomainError for another level than M1 and M2, and for M2 where dgemm has one product only.
core::ClusterModel at_levels(core::ClusterModel cluster, const ModelLevels& levels);

/// The switches that differ from the default, by the name of their option: {"per-cpu": "off"}.
std::map<std::string, std::string> described(const ModelLevels& levels);

/// Levels from the result of described(), as predictions keep it.
ModelLevels levels_of(const std::map<std::string, std::string>& described);

}  // namespace hplcast::study
