#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

namespace hplcast::calibration {

/// A clock in ns; CLOCK_MONOTONIC unless told otherwise.
inline std::int64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{1000000000} * now.tv_sec + now.tv_nsec;
}

/// Monotonic time in s, for differences: nanoseconds of resolution, not disturbed by jumps of the wall clock.
inline double now_s(clockid_t clock = CLOCK_MONOTONIC) noexcept {
  return 1e-9 * static_cast<double>(now_ns(clock));
}

/// Waits without calling anything else, so that the process neither sleeps nor makes progress in MPI.
inline void spin_until(double moment_s) noexcept {
  while (now_s() < moment_s) {
  }
}

/// Sleeps until this moment of a clock, or a signal. False if it was a signal.
inline bool sleep_until_ns(std::int64_t moment, clockid_t clock = CLOCK_MONOTONIC) noexcept {
  timespec until{};
  until.tv_sec = static_cast<time_t>(moment / 1000000000);
  until.tv_nsec = static_cast<long>(moment % 1000000000);
  return clock_nanosleep(clock, TIMER_ABSTIME, &until, nullptr) == 0;
}

inline void sleep_s(double duration_s) {
  std::this_thread::sleep_for(std::chrono::duration<double>(duration_s));
}

}  // namespace hplcast::calibration
