#include "hplcast/calibration/pinned_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <string>
#include <thread>

#include "hplcast/core/errors.hpp"

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

void require_pinnable(const CorePlace& place) {
  bool may_run = false;
  std::thread([&] { may_run = pin_this_thread(place.pu); }).join();
  if (!may_run)
    throw core::Error(core::ExitCode::bad_input,
                      "core " + std::to_string(place.core) +
                          ": this process may not be pinned to it\n  hint: choose others with --cores; taskset or the "
                          "launcher may have bound it, see `hplcast doctor`");
}

std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept {
  volatile std::uint64_t end = chain;
  std::uint64_t value = end;
  for (long i = 0; i < multiplications; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  end = value;
  return end;
}

}  // namespace hplcast::calibration
