#include "hplcast/calibration/monitor.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

#include "hplcast/calibration/clock.hpp"

namespace hplcast::calibration {

namespace {

constexpr double largest_share = 0.01;  // of a core

double thread_cpu_s() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

Monitor::Monitor(Sensors sensors, double period_s)
    : sensors_(std::move(sensors)), period_s_(period_s), thread_([this] { run(); }) {}

Monitor::~Monitor() {
  stop();
}

std::vector<Reading> Monitor::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  return std::move(readings_);
}

void Monitor::run() {
  if (sensors_.size() == 0) return;
  std::unique_lock<std::mutex> lock(mutex_);
  double cost_before_s = std::numeric_limits<double>::infinity();
  while (!stopping_) {
    const double cpu_begin_s = thread_cpu_s();
    const std::vector<Reading> now = sensors_.read(now_s());
    readings_.insert(readings_.end(), now.begin(), now.end());
    const double cost_s = thread_cpu_s() - cpu_begin_s;
    // One reading that the system has interrupted does not silence the sensors for seconds.
    const std::chrono::duration<double> pause(std::max(period_s_, std::min(cost_s, cost_before_s) / largest_share));
    cost_before_s = cost_s;
    wake_.wait_for(lock, pause, [&] { return stopping_; });
  }
  const std::vector<Reading> last = sensors_.read(now_s());
  readings_.insert(readings_.end(), last.begin(), last.end());
}

}  // namespace hplcast::calibration
