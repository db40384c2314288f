#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/observe/activity.hpp"
#include "smpi-models/observe/energy_meters.hpp"
#include "smpi-models/program/program_times.hpp"

namespace hplcast::smpi_models {

/// How many messages, and their bytes.
struct MessageTotals {
  double messages = 0;
  double bytes = 0;

  void add(double message_bytes) {
    ++messages;
    bytes += message_bytes;
  }
  MessageTotals& operator+=(const MessageTotals& more) {
    messages += more.messages;
    bytes += more.bytes;
    return *this;
  }
};

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

/// When the ranks begin each panel of the last factorisation: means over all ranks, which scatter less than the first
/// or the last rank. What a sampled prediction is made of.
class PanelMarks {
 public:
  /// As hplcast_panel_begins(). @param ranks  of the simulation
  void mark(std::size_t ranks, std::size_t rank, const hplcast_window& window, int index, double now_s);

  const hplcast_window& window() const { return window_; }
  /// Simulated times: of the begin of the factorisation, of each panel of the window, and of the end. Empty if nothing
  /// was factored.
  std::vector<double> means_s() const;

 private:
  struct Last {
    std::size_t place = 0;
    double time_s = 0;
  };
  hplcast_window window_{0, 0};
  std::vector<double> sums_s_;
  std::vector<Last> last_;  // of each rank
  std::size_t begun_ = 0;   // by how many ranks
};

/// Calls of one routine, summed over ranks.
struct RoutineCount {
  std::uint64_t calls = 0;
  std::uint64_t outside_range = 0;  ///< calls whose sizes the model was not fitted on
  double time_s = 0;
  double flop = 0;
  bool has_model = false;
};

struct RegionCount {
  std::uint64_t calls = 0;
  double time_s = 0;  ///< simulated
  bool has_model = false;
};

/// What a program that was observed did in a simulation: `program` of the statistics (docs/use/any-program.md).
struct ProgramCounts {
  std::map<std::string, RoutineCount> routines;
  std::map<std::string, RegionCount> regions;
  double messages = 0;            ///< that SMPI sent, those of collectives among them; 0 without the platform library
  double message_bytes = 0;       ///< in them
  double end_s = 0;               ///< when the last rank ended, in its own time
  std::vector<NamedTimes> times;  ///< ProgramTimes::until(); empty if nobody asks
  std::vector<int> unfinished;    ///< ranks that have not come to MPI_Finalize
  double untimed_s = 0;  ///< CPU time of this machine between two reads of a clock that show the same simulated time
  std::uint64_t untimed_intervals = 0;  ///< how often
  double rest_s = 0;  ///< simulated time of code that is neither routine nor region, summed over ranks
};

/// What happened in one simulation: the content of the file HPLCAST_STATS (docs/internals/smpi-runtime.md).
struct Statistics {
  std::string cluster;       ///< name; empty without a model
  std::string model_sha256;  ///< empty without a model
  std::string model_source;
  std::string simulator;       ///< name and version
  bool fast = false;           ///< the mode
  double fast_error_95_s = 0;  ///< ColumnMeetings::error_95_s()
  std::uint64_t seed = 0;
  bool noise = true;
  int ranks = 0;
  bool deadlock = false;
  double end_s = 0;             ///< simulated time at the end
  std::vector<double> times_s;  ///< as reported, in order
  CallCounts counts;
  ProgramCounts program;
  std::vector<double> detours_s;         ///< RankClock::detours_s(), by rank; empty without detours
  hplcast_window window{0, 0};           ///< PanelMarks::window()
  std::vector<double> panel_marks_s;     ///< PanelMarks::means_s()
  std::vector<CallCounts> panel_counts;  ///< PanelCounts::until_marks(), of a window
  std::optional<EnergyTotals> energy;    ///< nothing: not asked for
  std::vector<StateSums> panel_states;   ///< EnergyAccount::at_marks(), of a window
  std::vector<PhaseTimes> panel_phases;  ///< Activity::phase_times_at_marks()
  Activity::RankPhaseTimes phases{};     ///< empty if not measured
  std::vector<BlockedRank> blocked;      ///< what ranks waited for in a deadlock
};

/// JSON; kernels and operations that were not called are left out.
void write_statistics(std::ostream& out, const Statistics& statistics);

/// Tells another process how far the simulation is: a line "FRACTION SIMULATED_SECONDS MESSAGES" of always the same
/// length, written over the old one, so that a reader never sees half of it.
class ProgressFile {
 public:
  /// An empty path: tells nobody.
  explicit ProgressFile(const std::string& path);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// Writes at most five times a second, and only what goes forward.
  void update(double fraction, double simulated_s);
  /// Of a program of which nobody knows how long it is. Most calls do next to nothing.
  void tell(double simulated_s, double messages);
  bool is_told() const { return descriptor_ >= 0; }

 private:
  void write(double simulated_s, double messages);
  int descriptor_ = -1;
  double fraction_ = 0;
  unsigned skipped_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace hplcast::smpi_models
