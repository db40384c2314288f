#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hplcast::calibration {

/// The frequencies of this host's CPUs, through cpufreq: scaling_setspeed under the governor userspace, else
/// scaling_min_freq and scaling_max_freq together. What was there before is put back at destruction.
class FrequencyControl {
 public:
  /// Looks below root/sys.
  explicit FrequencyControl(const std::filesystem::path& root = "/");
  ~FrequencyControl();
  FrequencyControl(const FrequencyControl&) = delete;
  FrequencyControl& operator=(const FrequencyControl&) = delete;

  /// Those that can be set, from high to low: the driver's list, or steps of 100 MHz from the most to the least. Empty:
  /// this host does not say.
  const std::vector<double>& states_hz() const noexcept { return states_hz_; }
  /// Sets all CPUs. @throws core::Error (bad_input) that names the file that cannot be written, or says that there is
  /// no cpufreq; DomainError for a frequency outside what the CPUs can have.
  void set(double hz);

 private:
  void write(const std::filesystem::path& file, double khz);
  void set_limits(const std::filesystem::path& policy, double khz);

  std::vector<std::filesystem::path> policies_;
  std::vector<double> states_hz_;
  double least_hz_ = 0, most_hz_ = 0;
  std::map<std::filesystem::path, double> before_khz_;  ///< files that were written
};

}  // namespace hplcast::calibration
