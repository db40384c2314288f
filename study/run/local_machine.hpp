#pragma once

#include <limits>
#include <optional>

namespace hplcast::study {

/// Resources of this machine for a run.
struct LocalMachine {
  int cores = 1;               ///< physical cores that this process may use
  double memory_bytes = 0;     ///< installed; 0: not known
  double available_bytes = 0;  ///< free without swapping; 0: not known
  long max_map_count = 0;      ///< vm.max_map_count: memory maps that one process may have; 0: not known
};

LocalMachine local_machine();

/// Proportional set size of a process and all its descendants, in bytes: shared pages count once, unlike in the
/// resident set size. A process that cannot be read (ended, another user's) counts 0.
double tree_pss_bytes(int pid);

/// Keeps the largest tree_pss_bytes() of a running program. Sampling walks all its memory maps, under their lock, so
/// samples are spaced to cost at most a hundredth of the time; three of the first second, so that short programs have
/// more than one.
class PeakMemory {
 public:
  void sample(int pid);
  double peak_bytes() const noexcept { return peak_bytes_; }

 private:
  std::optional<double> begin_s_;
  double peak_bytes_ = 0;
  double cost_before_s_ = std::numeric_limits<double>::infinity();  ///< of the last sample
  double next_sample_s_ = 0;
};

}  // namespace hplcast::study
