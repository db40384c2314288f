#pragma once

#include <cstdint>
#include <ctime>

namespace hplcast::calibration {

/// A clock in ns; CLOCK_MONOTONIC unless told otherwise.
inline std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{1000000000} * now.tv_sec + now.tv_nsec;
}

/// Monotonic time in s, for differences: nanoseconds of resolution, not disturbed by jumps of the wall clock.
inline double now_s() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Waits without calling anything else, so that the process neither sleeps nor makes progress in MPI.
inline void spin_s(double duration_s) noexcept {
  const double end = now_s() + duration_s;
  while (now_s() < end) {
  }
}

}  // namespace hplcast::calibration
