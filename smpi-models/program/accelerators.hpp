#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_accelerator.h"
#include "smpi-models/clock/kernels.hpp"
#include "smpi-models/observe/activity.hpp"

namespace hplcast::smpi_models {

/// Accelerators of the ranks as cluster.json has them: costs, durations of kernels, counts, and memory. Each rank has
/// one of its own. When work is done is told by the program's side (accelerators/clock).
class Accelerators {
 public:
  /// The references must outlive this.
  Accelerators(const Settings& settings, const std::optional<Model>& model, Activity& activity);

  /// Ranks come in the order of their numbers.
  void add_rank(const Kernels::Place& place);

  /// As hplcast_accelerator_here(). @throws core::Error
  const hplcast_accelerator& here(const Rank& rank);
  /// As hplcast_accelerator_find(). @throws core::Error
  hplcast_accelerator_kernel find(const std::string& name, const std::string& base);
  /// As hplcast_accelerator_call().
  double call(const Rank& rank, int number, const core::KernelShape& shape, double flop);
  void took(int number, double duration_s);
  void copied(hplcast_direction direction, double bytes, double duration_s);
  void overlapped(double duration_s) { counts_.overlapped_s += duration_s; }
  /// As hplcast_accelerator_ran().
  void ran(const Rank& rank, int stream, const char* what, const core::KernelShape& shape, const TimeSpan& span);

  /// Whether messages from memory of accelerators have costs of their own; of one between two ranks, null: it has none.
  bool has_messages() const { return model_ != nullptr && model_->messages.has_value(); }
  const core::DeviceMessage* message(int source, int destination) const;

  /// As hplcast_device_allocate() and hplcast_device_free().
  void* allocate(const Rank& rank, std::size_t bytes);
  bool release(const Rank& rank, void* memory);
  double used_bytes(const Rank& rank) const { return states_[rank.number].used_bytes; }

  /// Nothing if no rank has used one.
  std::optional<core::AcceleratorCounts> counts() const;

 private:
  struct Kernel {
    std::string name;
    const core::AcceleratorKernel* model;
    std::uint32_t stream;
    core::RoutineUse count;
  };
  struct State {
    Kernels::Place place;
    int local_rank;
    bool is_used = false;
    double used_bytes = 0;
    std::vector<std::uint64_t> calls;  ///< draws taken, by kernel
    std::vector<int> rows;             ///< of its streams in the trace; 0: none yet
  };

  const Settings& settings_;
  Activity& activity_;
  int last_row_ = 0;
  const core::AcceleratorModel* model_ = nullptr;
  const core::ClusterModel* cluster_ = nullptr;
  std::string name_;
  hplcast_accelerator costs_{};
  std::unordered_map<int, int> ranks_on_;  // by host
  std::vector<State> states_;              // by rank
  std::unordered_map<std::string, int> numbers_;
  std::vector<Kernel> kernels_;
  core::AcceleratorCounts counts_;
  bool is_used_ = false;
};

}  // namespace hplcast::smpi_models
