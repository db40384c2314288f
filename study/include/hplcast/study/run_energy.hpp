#pragma once

#include <string>
#include <vector>

#include "hplcast/core/power_samples.hpp"

namespace hplcast::study {

/// Records what this host draws while HPL runs. study knows no sensors: cli brings those of calibration.
class PowerRecorder {
 public:
  virtual ~PowerRecorder() = default;
  virtual void begin() = 0;
  /// All samples since begin(), with Unix times.
  virtual std::vector<core::PowerSample> end() = 0;
};

/// What a run of HPL took.
struct RunEnergy {
  double energy_j = 0;               ///< 0: not known, and `doubt` says why
  std::vector<std::string> sensors;  ///< that were added up
  double covered = 0;                ///< share of the run with samples, of the sensor that has the least
  std::string doubt;                 ///< for people; empty: none
};

/// From the samples of one host, over the timed part of HPL. A sensor with samples in less than half of it, or fewer
/// than 2, says nothing of the run; below 90 % it is doubtful.
RunEnergy energy_of_run(const std::vector<core::PowerSample>& samples, double begin_unix_s, double end_unix_s);

}  // namespace hplcast::study
