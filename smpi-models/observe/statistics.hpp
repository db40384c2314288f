#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/observe/activity.hpp"
#include "smpi-models/observe/energy_meters.hpp"

namespace hplcast::smpi_models {

/// How many messages, and their bytes.
struct MessageTotals {
  double messages = 0;
  double bytes = 0;

  void add(double message_bytes) {
    ++messages;
    bytes += message_bytes;
  }
};

/// Calls of kernels and messages, and the time that detours took.
struct CallCounts {
  std::array<core::KernelCount, core::kernel_count> kernels{};
  std::array<core::MessageCount, HPLCAST_MPI_COUNT> messages{};
  double detours_s = 0;  ///< sum over the ranks; only at marks

  CallCounts& operator+=(const CallCounts& other);
};

/// Counts of the ranks, by the panel that the calling rank has begun last.
class PanelCounts {
 public:
  /// Messages of more bytes count as outside of the calibrated range; 0: not known.
  void set_measured_bytes(double bytes) { measured_bytes_ = bytes; }

  /// `place`: that of the rank, 0 at first.
  core::KernelCount& kernel(std::size_t place, core::KernelId kernel) {
    return places_[place].kernels[static_cast<std::size_t>(kernel)];
  }
  void add_message(std::size_t place, hplcast_mpi operation, double bytes) {
    core::MessageCount& count = places_[place].messages.at(static_cast<std::size_t>(operation));
    ++count.calls;
    count.bytes += bytes;
    if (measured_bytes_ > 0 && bytes > measured_bytes_) ++count.outside_range;
  }

  /// A rank leaves a place; `detours_s`: its RankClock::detours_s().
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

/// When the ranks begin each panel of the last factorisation: means over those of its grid, which scatter less than the
/// first or the last rank. Sampled predictions are made of them.
class PanelMarks {
 public:
  /// As hplcast_panel_begins(). @param ranks  of the simulation. @return how long ago the rank was here last
  double mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s);

  const hplcast_window& window() const { return window_; }
  /// Simulated times: of the begin of the factorisation, of each panel of the window, and of the end. Empty if nothing
  /// was factored.
  std::vector<double> means_s() const;

 private:
  struct Last {
    std::size_t place = 0;
    double time_s = 0;
  };
  hplcast_window window_{};
  std::vector<double> sums_s_;
  std::vector<Last> last_;  // of each rank
  int begun_ = 0;           // this factorisation, by how many ranks
};

// --- what was counted, as the result of the simulation has it
// ----------------------------------------------------------

/// Kernels and operations that were called.
void add_counts(core::SimulationResult& result, const CallCounts& counts);

/// Add CallCounts, EnergyAccount and Activity at each mark: only what was called, was a state, has a time.
void add_counts(core::CountsAtPanels& panels, const std::vector<CallCounts>& marks);
void add_states(core::CountsAtPanels& panels, const std::vector<StateSums>& marks);
void add_phases(core::CountsAtPanels& panels, const std::vector<PhaseTimes>& marks, bool detours);

/// `detours`: there may be some.
std::vector<core::RankPhases> rank_phases(const std::vector<NamedTimes>& parts, bool detours);

/// Tells another process how far the simulation is (core::progress_line()).
class ProgressFile {
 public:
  /// An empty path: tells nobody.
  explicit ProgressFile(const std::string& path);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// Writes at most five times a second, and only what goes forward.
  void update(double fraction, double simulated_s);
  /// Progress of a program whose length nobody knows, where is_due().
  void tell(double simulated_s, double messages) { write({fraction_, simulated_s, messages}); }
  /// Now and then: to ask costs next to nothing.
  bool is_due() {
    constexpr unsigned clock_every = 64;
    return descriptor_ >= 0 && ++skipped_ % clock_every == 0;
  }

 private:
  void write(const core::SimulationProgress& progress);
  int descriptor_ = -1;
  double fraction_ = 0;
  unsigned skipped_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace hplcast::smpi_models
