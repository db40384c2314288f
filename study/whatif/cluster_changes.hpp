#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hplcast/study/transform.hpp"

namespace hplcast::study {

using core::ClusterModel;

/// Which of the hosts sorted by speed.
enum class SpeedRank { slowest, median, fastest };

/// The argument of one transformation: parts between separators, read with messages that show the form expected.
class Argument {
 public:
  /// How arguments are divided. Between colons there are as many parts as the form has (those behind "[:" may be left
  /// out), with the others one or more; `nothing`: it is one part.
  enum Separator : char { colon = ':', semicolon = ';', times = 'x', nothing = '\0' };

  /// @throws TransformationFormError for another number of parts.
  Argument(const TransformationInfo& info, const std::string& text, Separator separator);

  [[noreturn]] void fail() const { throw TransformationFormError(info_.name, text_, info_.argument); }
  std::size_t size() const { return parts_.size(); }
  const std::string& text(std::size_t i = 0) const { return parts_.at(i); }
  double number(std::size_t i = 0) const;
  /// The number of a factor. @throws core::DomainError unless it is positive and finite.
  double factor() const;
  int integer(std::size_t i = 0) const;
  /// A whole number from 0 on.
  int whole(const std::string& text) const;
  int integer_or(std::size_t i, int otherwise) const { return i < size() ? integer(i) : otherwise; }
  double quantity(const std::string& text, double (*parse)(const std::string&)) const;
  double quantity(std::size_t i, double (*parse)(const std::string&)) const { return quantity(text(i), parse); }
  SpeedRank rank(std::size_t i, SpeedRank otherwise) const;
  /// For a transformation without a number.
  void require_yes() const {
    if (text_ != "yes") fail();
  }

 private:
  const TransformationInfo& info_;
  std::string text_;
  std::vector<std::string> parts_;
};

/// A transformation: what people see of it, and what it does.
struct KnownTransformation {
  TransformationInfo info;
  ClusterModel (*apply)(ClusterModel cluster, const Argument& argument);
  Argument::Separator separator = Argument::colon;
};
std::vector<KnownTransformation> speed_changes();
std::vector<KnownTransformation> power_changes();
std::vector<KnownTransformation> variability_changes();
std::vector<KnownTransformation> detour_changes();
std::vector<KnownTransformation> node_changes();
std::vector<KnownTransformation> topology_changes();
std::vector<KnownTransformation> placement_changes();

/// A number for people's mistakes: @throws core::DomainError unless it is positive and finite.
double require_positive(const char* name, double value);

using LawEdit = std::function<core::DurationLaw(const core::DurationLaw&)>;

/// Every piece edited.
core::PiecewiseLaw edited(const core::PiecewiseLaw& law, const LawEdit& edit);

/// Every law of the kernel edited: that of the cluster and those of CPUs. Quality goes, for it speaks of the old law.
core::KernelModel edited(const core::KernelModel& model, const LawEdit& edit);

/// The law with expectation and standard deviation times `factor`.
core::DurationLaw slowed(const core::DurationLaw& law, double factor);
core::PiecewiseLaw slowed(const core::PiecewiseLaw& law, double factor);
core::KernelModel slowed(const core::KernelModel& model, double factor);

/// The code of an observed program: `slow` changes the model of a routine (empty: of a region), all else takes `longer`
/// times as long.
void slow_program(core::ProgramModel& program,
                  const std::function<void(core::KernelModel& model, const std::string& routine)>& slow, double longer);

/// Accelerators of all kinds of hosts.
void edit_accelerators(ClusterModel& cluster, const std::function<void(core::AcceleratorModel&)>& edit);
/// Every model that may have laws of single CPUs: of kernels, of those of accelerators, of the code of a program.
void edit_models(ClusterModel& cluster, const std::function<void(core::KernelModel&)>& edit);

/// The cluster with its network edited, and validated again.
ClusterModel with_network(ClusterModel cluster, const std::function<void(core::NetworkModel::Values&)>& edit);

/// How much faster the network becomes.
struct NetworkSpeed {
  double latency = 1, bandwidth = 1;  ///< of links and backbone, and of intercepts and slopes of the transfer times
  double calls = 1;                   ///< what the CPU spends on a message: send, isend, recv
  double new_memory = 1;              ///< what memory costs that is new to messages
};
void scale_scope(core::ScopeModel& scope, const NetworkSpeed& by);

/// Edits every segment of one cost.
void edit_segments(core::SegmentedLaw& law, const std::function<void(core::Segment&)>& edit);

/// Intercept and everything around it, in seconds, times `factor`.
void scale_intercept(core::Segment& segment, double factor);

/// The model of a kernel. @throws core::DomainError if the cluster has none.
core::KernelModel& kernel_of(ClusterModel& cluster, const std::string& kernel);

/// dgemm rate of each host in flop/s per core: 2mnk over the mean of the expected durations on its CPUs, at m = n =
/// 2048, k = 128, as in the update of HPL. All 1 for a cluster without a model of dgemm.
std::vector<double> host_rates(const ClusterModel& cluster);

/// Indices of the hosts from the slowest to the fastest; equal ones in their order.
std::vector<int> hosts_by_rate(const ClusterModel& cluster);

/// Without the hosts of these names. @throws core::DomainError for an unknown one, or if none stays.
ClusterModel remove_named_nodes(const ClusterModel& cluster, const std::vector<std::string>& names);

/// Names as a radical: "node-[1-3,5]" if that is possible, else with commas. expand_hosts() gives the names again.
std::string compressed_hosts(const std::vector<std::string>& names);

/// Calls scatter with coefficient of variation `cv` (sd / expectation) for all sizes and CPUs, half-normal;
/// expectations stay. 0: they do not scatter.
void set_temporal_cv(core::KernelModel& model, double cv);

/// Standard deviations and mixtures of the costs of messages around their expectations, times `factor` >= 0. 0: none.
ClusterModel scale_network_noise(ClusterModel cluster, double factor);

/// All CPUs of a kind of hosts alike: with the mean of their coefficients. Where their laws differ in form, with that
/// of the cluster.
core::KernelModel with_mean_laws(const core::Hosts& hosts, const core::KernelModel& model);

}  // namespace hplcast::study
