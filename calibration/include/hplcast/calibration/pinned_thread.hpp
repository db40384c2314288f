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

/// Sleeps until this moment of a clock, or a signal. False if it was a signal.
bool sleep_until_ns(std::int64_t moment, clockid_t clock = CLOCK_MONOTONIC) noexcept;

/// Binds the calling thread to a hardware thread (as the operating system numbers them); false if it may not run there.
bool pin_this_thread(int pu) noexcept;

/// Runs a chain of dependent multiplications, nothing that the compiler could leave out; some 1.3 ns each on a CPU of
/// 3 GHz. Returns the end of the chain.
std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept;

}  // namespace hplcast::calibration
