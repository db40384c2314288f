#pragma once

#include <cstdint>
#include <vector>

#include "hplcast/calibration/measure_gaps.hpp"

namespace hplcast::calibration {

/// What a core's thread notes while it watches. Times in ns of CLOCK_MONOTONIC.
struct WatchRecord {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t work = 0;
};

/// Watches one core, which this process may be pinned to, in slices of time, in a thread of its own. Nothing is
/// allocated or written meanwhile.
class CoreWatch {
 public:
  CoreWatch(const GapOptions& options, const CorePlace& place);

  /// Pins this thread, warms up, and learns the shortest loop and the work of a quantum.
  void prepare();
  /// Watches from `begin` to `end`, or until the records are full.
  void watch(std::int64_t begin, std::int64_t end);

  /// Least step of the clock that is not 0, in ns.
  std::int64_t clock_step() const noexcept { return clock_step_; }
  const std::vector<WatchRecord>& records() const noexcept { return records_; }
  std::int64_t begin() const noexcept { return begin_; }
  std::int64_t end() const noexcept { return end_; }
  /// Of this thread's processor time from begin() to end().
  double cpu_s() const noexcept { return 1e-9 * static_cast<double>(cpu_); }
  double unit_s() const noexcept { return unit_s_; }
  double drift() const noexcept { return least_probe_ > 0 ? most_probe_ / least_probe_ - 1 : 0; }
  int core() const noexcept { return place_.core; }

 private:
  void watch_gaps(std::int64_t end);
  void watch_fixed_work(std::int64_t end);
  void watch_fixed_time(std::int64_t end);
  void probe_speed();
  bool full() const noexcept { return records_.size() == options_.most_rows; }

  const GapOptions& options_;
  CorePlace place_;
  std::vector<WatchRecord> records_;
  std::int64_t clock_step_ = 0, shortest_loop_ = 0, begin_ = 0, end_ = 0, cpu_ = 0;
  long quantum_work_ = 1;
  double unit_s_ = 0, least_probe_ = 0, most_probe_ = 0;
  std::uint64_t chain_ = 1;
};

}  // namespace hplcast::calibration
