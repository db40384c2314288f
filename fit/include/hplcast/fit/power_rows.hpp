#pragma once

#include <string>
#include <vector>

#include "hplcast/core/power_samples.hpp"

namespace hplcast::fit {

/// The power of one host in one piece of a measurement: what its samples say together.
struct PowerRow {
  std::string host;
  std::string state;        ///< idle, polling, a kernel ...
  int active_cores = 0;     ///< in that state
  int cores = 1;            ///< of the host
  double frequency_hz = 0;  ///< 0: not known
  double power_w = 0;       ///< of the host: the sum of its sensors' means
  std::size_t samples = 0;  ///< of the sensor that has the fewest
  double limit_share = 0;   ///< the largest share of its limit that a sensor reaches; 0: no limit known
};

/// Rows, and what was left out on the way.
struct PowerRows {
  std::vector<PowerRow> rows;
  std::vector<std::string> sensors;  ///< that were added up, of all hosts
  std::size_t outliers = 0;          ///< samples far from the median of their piece
  std::size_t incomplete = 0;        ///< pieces in which a sensor was silent, or that have no used sample
  double limit_w = 0;                ///< the least limit of a package; 0: none is known
};

/// Means of the used samples of every piece; samples without a piece are rows of their own. Of each host the sensors
/// are those of sensors_of_host(), or those asked for. A sample farther from the median of its piece than six standard
/// deviations (as its median deviation says them) and 5 % of it is left out: meters say 0 or 50 W now and then.
/// @throws core::Error (bad_input) if a host has none of the sensors.
PowerRows power_rows(const std::vector<core::PowerSample>& samples, const std::vector<std::string>& sensors = {});

}  // namespace hplcast::fit
