#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hplcast/calibration/power_design.hpp"
#include "hplcast/calibration/power_meter.hpp"
#include "hplcast/calibration/world.hpp"

namespace hplcast::calibration {

/// The frequencies of this host's CPUs, through cpufreq: scaling_setspeed under the governor userspace, else
/// scaling_min_freq and scaling_max_freq together. The settings found are put back at destruction.
class FrequencyControl {
 public:
  /// Looks below root/sys.
  explicit FrequencyControl(const std::filesystem::path& root = "/");
  ~FrequencyControl();
  FrequencyControl(const FrequencyControl&) = delete;
  FrequencyControl& operator=(const FrequencyControl&) = delete;

  /// Frequencies that can be set, descending: the driver's list, or steps of 100 MHz from the most to the least. Empty:
  /// this host does not say.
  const std::vector<double>& states_hz() const noexcept { return states_hz_; }
  /// Sets all CPUs. @throws core::InputError that names the file that cannot be written, or says that there is no
  /// cpufreq; DomainError for a frequency outside what the CPUs can have.
  void set(double hz);

 private:
  void write(const std::filesystem::path& file, double khz);
  void set_limits(const std::filesystem::path& policy, double khz);

  std::vector<std::filesystem::path> policies_;
  std::vector<double> states_hz_;
  double least_hz_ = 0, most_hz_ = 0;
  std::map<std::filesystem::path, double> before_khz_;  ///< files that were written
};

struct PowerMeasureOptions {
  std::filesystem::path root = "/";  ///< sensors and frequencies are looked for below root/sys and root/dev
  std::vector<MeterKind> kinds = all_meters;
  bool needs_sensors = true;  ///< false: a wattmeter measures
  double period_s = 0.5;      ///< between two readings
  SetAside aside;
  std::uint64_t seed = 1;  ///< of the contents of matrices
  std::function<void(double fraction)> progress;
};

/// Measurements of this host; empty except on its first rank.
struct PowerMeasurement {
  std::vector<core::PowerSample> samples;  ///< of all sensors, one after the other
  std::vector<PieceRun> pieces;
  std::vector<std::string> sensors;   ///< that add up to the power of the host
  std::vector<std::string> troubles;  ///< with the names of the sensors
};

/// Looks for sensors and frequencies on all hosts. Collective. @throws as measure_power() before it measures.
void check_power_measurement(const World& world, const std::vector<PowerPiece>& design,
                             const PowerMeasureOptions& options);

/// Runs the pieces of a design on all ranks: of each host as many as a piece has active cores, spread over its CPUs,
/// while the others sleep, and one thread of the host reads the sensors. Collective.
/// @throws core::InputError if the power of a host cannot be read (unless needs_sensors is false), or if a frequency
/// cannot be set.
PowerMeasurement measure_power(const World& world, const CorePlace& place, const std::vector<PowerPiece>& design,
                               const PowerMeasureOptions& options);

}  // namespace hplcast::calibration
