#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "hplcast/calibration/topology.hpp"

namespace hplcast::calibration {

/// Which time of the source counts as its work.
enum class WorkClock {
  cpu,  ///< that of its own processor time: the work is done whoever shares the core
  wall  ///< that of the wall: it gives up when the time is over
};

/// A program that takes the cores away now and then.
struct NoiseSourceOptions {
  double period_s = 1;
  double duration_s = 0.01;  ///< in (0, period_s)
  bool synchronous = false;  ///< begins at multiples of the period of the absolute clock; else with random phases
  WorkClock clock = WorkClock::cpu;
  double for_s = 60;  ///< at least a period; whole periods are done
  std::vector<CorePlace> cores;
  unsigned seed = 0;  ///< of the phases
};

/// What the source did on a core.
struct NoiseSourceRow {
  int core = 0;
  long periods = 0;  ///< planned, until it ended
  long events = 0;   ///< begun
  long late = 0;     ///< begun more than a tenth of the duration, or 1 ms, too late
  double mean_lateness_s = 0;
  double longest_lateness_s = 0;
  double busy_s = 0;  ///< processor time of the events
  double wall_s = 0;  ///< of the events, from begin to end
  double duty = 0;    ///< busy_s / (periods * period_s)
};

/// @throws core::DomainError for values outside their domain, no cores.
void validate(const NoiseSourceOptions& options);

/// Works on each of the cores, one thread each, until the time is over or `stop` is set. @throws core::DomainError as
/// validate(), core::Error (bad_input) for a core that this process may not be pinned to, or if the threads cannot be
/// started.
std::vector<NoiseSourceRow> run_noise_source(const NoiseSourceOptions& options, const std::atomic<bool>& stop);

/// What did not come out as wanted: a duty below 95 percent of it, late starts. Empty: all is fine.
std::vector<std::string> noise_source_warnings(const NoiseSourceOptions& options,
                                               const std::vector<NoiseSourceRow>& rows);

}  // namespace hplcast::calibration
