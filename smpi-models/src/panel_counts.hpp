#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hplcast/core/kernel_id.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"

namespace hplcast::smpi_models {

/// Calls of kernels and messages, and the time that detours took.
struct CallCounts {
  std::array<core::KernelCount, core::kernel_count> kernels{};
  std::array<core::MessageCount, HPLCAST_MPI_COUNT> messages{};
  double detours_s = 0;  ///< sum over the ranks; only at marks

  CallCounts& operator+=(const CallCounts& other);
};

/// What the ranks count, by the panel that the one that calls has begun last.
class PanelCounts {
 public:
  /// Messages of more bytes count as outside of the calibrated range; 0: not known.
  void set_measured_bytes(double bytes) { measured_bytes_ = bytes; }

  /// `place`: that of the rank, 0 at first.
  core::KernelCount& kernel(std::size_t place, core::KernelId kernel) {
    return places_[place].kernels[static_cast<std::size_t>(kernel)];
  }
  void add_message(std::size_t place, hplcast_mpi operation, double bytes);

  /// Of a rank that leaves a place: RankClock::detours_s().
  void leave(std::size_t from, std::size_t to, double detours_s) {
    places_[from].detours_s += detours_s;
    places_[to].detours_s -= detours_s;
  }

  /// The place of a rank from mark `index` of a window on (hplcast_panel_begins()).
  std::size_t begin_panel(int index);

  CallCounts total() const;
  /// All that ranks counted before they came to each mark, as those of PanelMarks; empty if no panel was begun.
  std::vector<CallCounts> until_marks() const;

 private:
  double measured_bytes_ = 0;
  std::vector<CallCounts> places_ = std::vector<CallCounts>(1);
};

}  // namespace hplcast::smpi_models
