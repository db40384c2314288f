#include "hplcast/calibration/pinned_thread.hpp"

#include <pthread.h>
#include <sched.h>

namespace hplcast::calibration {

bool sleep_until_ns(std::int64_t moment, clockid_t clock) noexcept {
  timespec until{};
  until.tv_sec = static_cast<time_t>(moment / 1000000000);
  until.tv_nsec = static_cast<long>(moment % 1000000000);
  return clock_nanosleep(clock, TIMER_ABSTIME, &until, nullptr) == 0;
}

bool pin_this_thread(int pu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (pu < 0 || pu >= CPU_SETSIZE) return false;
  CPU_SET(static_cast<std::size_t>(pu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept {
  volatile std::uint64_t end = chain;
  std::uint64_t value = end;
  for (long i = 0; i < multiplications; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  end = value;
  return end;
}

}  // namespace hplcast::calibration
