#pragma once

#include <chrono>
#include <string>

namespace hplcast::smpi_models {

/// Tells another process how far the simulation is: a line "FRACTION SIMULATED_SECONDS MESSAGES" of always the same
/// length, written over the old one, so that a reader never sees half of it.
class ProgressFile {
 public:
  /// An empty path: tells nobody.
  explicit ProgressFile(const std::string& path);
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// Writes at most five times a second, and only what goes forward.
  void update(double fraction, double simulated_s);
  /// Of a program of which nobody knows how long it is. Most calls do next to nothing.
  void tell(double simulated_s, double messages);
  bool is_told() const { return descriptor_ >= 0; }

 private:
  void write(double simulated_s, double messages);
  int descriptor_ = -1;
  double fraction_ = 0;
  unsigned skipped_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace hplcast::smpi_models
