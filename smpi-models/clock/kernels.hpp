#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "smpi-models/clock/rank.hpp"
#include "smpi-models/observe/statistics.hpp"
#include "smpi-models/session/session.hpp"

namespace hplcast::smpi_models {

/// Duration of call number `call` in s by its law, at least 0: drawn from the stream, or the mean if `settings` say so.
double duration_s(const Settings& settings, const core::DurationLaw& law, const core::KernelShape& shape,
                  const core::StreamName& stream, std::uint64_t call);

/// Durations of kernels: the models of the cluster, drawn from streams of the rank, the kernel and the call's number.
class Kernels {
 public:
  /// No model: a program may run without kernels. Counts calls in `counts`; both references must outlive this.
  Kernels(const Settings& settings, std::optional<Model> model, PanelCounts& counts);

  const std::optional<Model>& model() const { return model_; }
  /// Where a rank runs; 0 without a model.
  struct Place {
    int host = 0;  ///< index in the cluster
    int cpu = 0;
  };
  /// The rank is number `local_rank` of its host: it has the models of that CPU, and the detours of that core. @throws
  /// DomainError for a host without a model.
  Place place(Rank& rank, int local_rank) const;
  /// The matrix of the rank has it, in doubles.
  void set_leading_dimension(Rank& rank, long doubles) const;
  /// Whether ranks have detours.
  bool have_detours() const { return model_ && settings_.detours && !model_->cluster.detours.empty(); }
  bool has_empty_calls() const { return model_ && !model_->cluster.empty_call_s.empty(); }
  /// core::NetworkModel::Values::late_probes
  bool has_late_probes() const { return model_ && model_->cluster.network.values().late_probes; }

  /// Counts one call and draws its duration in s; 0 for a kernel that costs nothing. @throws Error without a model.
  double spend_s(Rank& rank, core::KernelId kernel, const core::KernelShape& shape);
  /// The expected duration in s of a call that is not made: draws and counts nothing.
  double expected_s(const Rank& rank, core::KernelId kernel, const core::KernelShape& shape) const;
  /// Durations of rank.loop.piece in s in each of the next `times` times that the rank calls these kernels. The
  /// draws are kept in rank.drawn for these calls.
  std::vector<double> repeated_s(Rank& rank, std::size_t times) const;

 private:
  core::DetourPlace detour_place(int host, int local_rank) const;
  double drawn_s(const Rank& rank, core::KernelId kernel, const core::KernelShape& shape, std::uint64_t call) const;

  const Settings& settings_;
  std::optional<Model> model_;
  std::unordered_map<std::string, int> host_index_;
  std::array<const core::ShapeRange*, core::kernel_count> ranges_{};
  std::vector<Slowdowns> aliased_;  ///< as those of the cluster
  std::array<double, core::kernel_count> empty_call_s_{};
  PanelCounts& counts_;
};

}  // namespace hplcast::smpi_models
