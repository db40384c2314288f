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

/// Number of the stream of what has this name, whatever else is called before it (FNV-1a).
std::uint32_t stream_named(const std::string& name);

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
  hplcast_accelerator_kernel find(const Rank& rank, const std::string& name, const std::string& base);
  /// As hplcast_accelerator_call().
  double call(const Rank& rank, int number, const core::KernelShape& shape, double flop);
  void took(const Rank& rank, int number, double duration_s) {
    sort_of(rank).kernels[static_cast<std::size_t>(number)].count.time_s += duration_s;
  }
  void copied(const Rank& rank, hplcast_direction direction, double bytes, double duration_s);
  void overlapped(const Rank& rank, double duration_s) { sort_of(rank).counts.overlapped_s += duration_s; }
  /// As hplcast_accelerator_ran().
  void ran(const Rank& rank, int stream, const char* what, const core::KernelShape& shape, const TimeSpan& span);

  /// Whether messages from memory of accelerators have costs of their own; of one between two ranks, null: it has none.
  bool has_messages() const;
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
    std::uint32_t stream;
  };
  /// A kernel on one sort of accelerators; the model is null as long as no rank has asked for it there.
  struct KernelUse {
    const core::AcceleratorKernel* model = nullptr;
    core::RoutineUse count;
  };
  /// Accelerators of a kind of hosts that has its own, or (the first) of all others.
  struct Sort {
    std::string kind;
    const core::AcceleratorModel* model = nullptr;  ///< null: the hosts have none
    hplcast_accelerator costs{};
    std::vector<KernelUse> kernels;                          ///< by number
    std::vector<std::optional<core::DeviceMessage>> remote;  ///< messages to hosts of each sort
    core::AcceleratorCounts counts;
  };
  struct State {
    Kernels::Place place;
    int local_rank;
    std::size_t sort;
    bool is_used = false;
    double used_bytes = 0;
    std::vector<std::uint64_t> calls;  ///< draws taken, by kernel
    std::vector<int> rows;             ///< of its streams in the trace; 0: none yet
  };

  const Settings& settings_;
  Activity& activity_;
  int last_row_ = 0;
  Sort& sort_of(const Rank& rank) { return sorts_[states_[rank.number].sort]; }
  /// "cluster dahu", "hosts of kind new of cluster dahu".
  std::string owner(const Sort& sort) const;

  const core::ClusterModel* cluster_ = nullptr;
  std::vector<Sort> sorts_{1};
  std::vector<std::size_t> sort_of_kind_;  // empty: all are of the first
  std::unordered_map<int, int> ranks_on_;  // by host
  std::vector<State> states_;              // by rank
  std::unordered_map<std::string, int> numbers_;
  std::vector<Kernel> kernels_;
  bool is_used_ = false;
};

}  // namespace hplcast::smpi_models
