#pragma once

#include <vector>

namespace hplcast::study {

/// Rank 0 asked another rank for the time, and got its answer between two readings of its own clock.
struct ClockComparison {
  int rank = 0;         ///< that answered
  double time_s = 0;    ///< its answer
  double offset_s = 0;  ///< its answer less the middle between the two readings: how far its clock is ahead
  double error_s = 0;   ///< half of the round trip, which bounds the error of the offset (Cristian 1989)
};

/// The clock of a host against that of rank 0: ahead by offset_s + drift (t - time_s) when it shows t. Two comparisons,
/// before and after the run, (t1, o1) and (t2, o2), give drift = (o2 - o1) / (t2 - t1); between them the error is at
/// most the larger of theirs if both clocks run evenly.
class HostClock {
 public:
  /// That of rank 0 itself.
  HostClock() = default;
  /// From the comparisons with one rank, in the order of time; without any, that of rank 0; one gives no drift.
  explicit HostClock(const std::vector<ClockComparison>& comparisons);

  /// What the clock of rank 0 showed when this one showed `time_s`.
  double at_rank_0_s(double time_s) const noexcept { return time_s - offset_s_ - drift_ * (time_s - time_s_); }

  double offset_s() const noexcept { return offset_s_; }  ///< at the first comparison
  double drift() const noexcept { return drift_; }        ///< seconds per second
  double error_s() const noexcept { return error_s_; }    ///< largest of the comparisons
  /// Whether the drift is larger than that of any clock that runs evenly (500 ppm, the most that NTP corrects), beyond
  /// what the errors of the comparisons explain.
  bool jumped() const noexcept { return jumped_; }

 private:
  double time_s_ = 0, offset_s_ = 0, drift_ = 0, error_s_ = 0;
  bool jumped_ = false;
};

}  // namespace hplcast::study
