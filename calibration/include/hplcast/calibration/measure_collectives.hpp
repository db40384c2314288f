#pragma once

#include <functional>
#include <vector>

#include "hplcast/calibration/collective_series.hpp"
#include "hplcast/calibration/noise_source.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/collective_run.hpp"

namespace hplcast::calibration {

enum class Collective { barrier, allreduce, alltoall };

/// Where the source runs.
enum class SourcePlace {
  host,  ///< beside one rank of each host
  core   ///< beside every rank
};

struct CollectiveOptions {
  Collective operation = Collective::barrier;
  long count = 0;  ///< calls of a run; 0: as many as take run_s without a source
  double run_s = 5;
  long size_bytes = 2048;  ///< allreduce: of the vector; alltoall: to each rank
  SeriesPlan series;
  double period_s = 1;  ///< of the source
  bool synchronous = false;
  WorkClock clock = WorkClock::cpu;
  SourcePlace place = SourcePlace::host;
  double epoch_s = 0;                             ///< what start_s counts from, on the clock of now_s()
  std::function<void(double fraction)> progress;  ///< on rank 0
};

/// @throws core::DomainError for values outside their domain, core::Error (bad_input) for a single rank.
void validate(const CollectiveOptions& options, const World& world);

/// Times series of a collective operation, some of them beside a source of detours that shares the core of the ranks.
/// Collective; the runs are on rank 0 in the order in which they were made, warm-up included. A duration is that of the
/// slowest rank. @throws as validate().
std::vector<core::CollectiveRun> measure_collectives(const World& world, const CorePlace& place,
                                                     const CollectiveOptions& options);

}  // namespace hplcast::calibration
