#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "hplcast/calibration/sensors.hpp"

namespace hplcast::calibration {

/// Reads sensors in a thread of its own, every `period_s`, less often if reading would take more than 1 percent of a
/// core, and once more when it is stopped.
class Monitor {
 public:
  Monitor(Sensors sensors, double period_s);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Ends the thread and returns all readings.
  std::vector<Reading> stop();
  /// After stop(): the sensors that were read.
  const Sensors& sensors() const noexcept { return sensors_; }

 private:
  void run();

  Sensors sensors_;
  double period_s_;
  std::vector<Reading> readings_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace hplcast::calibration
