#include "hplcast/study/clock_alignment.hpp"

#include <algorithm>
#include <cmath>

namespace hplcast::study {

HostClock::HostClock(const std::vector<ClockComparison>& comparisons) {
  if (comparisons.empty()) return;
  const ClockComparison& first = comparisons.front();
  const ClockComparison& last = comparisons.back();
  time_s_ = first.time_s;
  offset_s_ = first.offset_s;
  for (const ClockComparison& one : comparisons) error_s_ = std::max(error_s_, one.error_s);
  const double between_s = last.time_s - first.time_s;
  if (!(between_s > 0)) return;
  drift_ = (last.offset_s - first.offset_s) / between_s;
  constexpr double most_drift = 500e-6;  // of adjtimex(2), which NTP corrects clocks with
  jumped_ = std::abs(drift_) > most_drift + (first.error_s + last.error_s) / between_s;
}

}  // namespace hplcast::study
