#pragma once

#include <cstdint>
#include <ctime>

#include "hplcast/calibration/topology.hpp"

namespace hplcast::calibration {

/// Sleeps until this moment of a clock, or a signal. False if it was a signal.
bool sleep_until_ns(std::int64_t moment, clockid_t clock = CLOCK_MONOTONIC) noexcept;

/// Binds the calling thread to a hardware thread (as the operating system numbers them); false if it may not run there.
bool pin_this_thread(int pu) noexcept;

/// Whether a thread may run there; none stays. @throws core::Error (bad_input)
void require_pinnable(const CorePlace& place);

/// Runs a chain of dependent multiplications, nothing that the compiler could leave out; some 1.3 ns each on a CPU of
/// 3 GHz. Returns the end of the chain.
std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept;

}  // namespace hplcast::calibration
