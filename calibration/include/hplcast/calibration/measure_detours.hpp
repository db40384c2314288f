#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// How detours are looked for.
enum class GapMethod {
  gaps,  ///< a loop reads the clock; what is longer than the shortest loop and a threshold is a detour
  fwq,   ///< fixed work quantum: how long the same work takes
  ftq    ///< fixed time quantum: how much work is done in the same time
};

struct GapOptions {
  GapMethod method = GapMethod::gaps;
  double for_s = 10;                             ///< of watching
  double threshold_s = 1e-6;                     ///< gaps: beyond the shortest loop
  double quantum_s = 1e-3;                       ///< fwq, ftq
  double slice_s = 10;                           ///< after which rows are written, and nobody watches
  std::size_t most_rows = std::size_t{1} << 17;  ///< that a core keeps; then its slice ends
  std::vector<CorePlace> cores;
  std::string host;
  /// gaps: makes what a core's thread does between two readings of the clock. Without it: nothing.
  std::function<std::function<void()>()> make_pass;
  std::function<void(double fraction)> progress;  ///< between slices
};

/// Detours found on one core.
struct GapRow {
  int core = 0;
  double watched_s = 0;
  double lost_s = 0;  ///< ftq: of the work; gaps: of all detours; fwq: beyond the quickest work
  long events = 0;    ///< gaps: detours; else quanta
  double longest_s = 0;
  double waited_s = 0;     ///< in which the system had the thread wait, as its processor time says
  double speed_drift = 0;  ///< largest / least speed of a fixed computation before and after slices - 1
};

struct GapReport {
  std::vector<GapRow> rows;
  std::vector<std::string> warnings;
};

/// One observation of a core's watching thread. Times in ns of CLOCK_MONOTONIC.
struct WatchRecord {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t work = 0;
};

/// Detours among passes of equal work: those that are longer than the median of the 31 around them by the threshold and
/// by what their scatter explains, as long as they are longer; with the passes right after them, as long as they are
/// longer by 2 standard deviations, but less and less: caches are empty, vector units cold.
std::vector<WatchRecord> gaps_of_passes(const std::vector<WatchRecord>& passes, double threshold_ns);

/// @throws core::DomainError for values outside their domain, no cores.
void validate(const GapOptions& options);

/// Watches all cores at once, one pinned thread each, and streams the rows of docs/formats/measurements-csv.md
/// (core::write_row()) with their header. Memory: most_rows rows of each core.
/// @throws core::DomainError as validate(), core::InputError for a core that this process may not be pinned to, or a
/// clock that is too coarse for the threshold.
GapReport measure_gaps(const GapOptions& options, std::ostream& out);

/// Which time of the source counts as its work.
enum class WorkClock {
  cpu,  ///< that of its own processor time: the work is done whoever shares the core
  wall  ///< that of the wall: it gives up when the time is over
};
HPLCAST_ENUM_NAMES(WorkClock, "clock", "cpu", "wall");

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

/// Activity of the source on one core.
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
/// validate(), core::InputError for a core that this process may not be pinned to, or if the threads cannot be started.
std::vector<NoiseSourceRow> run_noise_source(const NoiseSourceOptions& options, const std::atomic<bool>& stop);

/// Deviations from the options: a duty below 95 percent of it, late starts. Empty: all is fine.
std::vector<std::string> noise_source_warnings(const NoiseSourceOptions& options,
                                               const std::vector<NoiseSourceRow>& rows);

/// One run of a study: a level of the source of detours (0: it does not run), timed or only to warm up.
struct SeriesRun {
  double level = 0;
  bool warm_up = false;
};

/// Which runs a study makes.
struct SeriesPlan {
  std::vector<double> levels;  ///< of noisy runs, each in [0, 1)
  int runs = 10;               ///< of each level
  int warm_up = 2;             ///< clean ones at the beginning, set aside
  std::uint64_t seed = 1;
};

/// The order of the runs: after the warm-up blocks of one run of each level and as many clean ones as half the levels
/// (at least one), each block in an order of its own. So whatever changes meanwhile hits all of them alike; clean runs
/// are never all first. @throws core::DomainError for no levels, levels outside [0, 1) or there twice, fewer than 2
/// runs, a negative warm-up.
std::vector<SeriesRun> make_series(const SeriesPlan& plan);

enum class Collective { barrier, allreduce, alltoall };
HPLCAST_ENUM_NAMES(Collective, "collective", "barrier", "allreduce", "alltoall");

/// Where the source runs.
enum class SourcePlace {
  host,  ///< beside one rank of each host
  core   ///< beside every rank
};
HPLCAST_ENUM_NAMES(SourcePlace, "place", "host", "core");

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

/// @throws core::DomainError for values outside their domain, core::InputError for a single rank.
void validate(const CollectiveOptions& options, const World& world);

/// Times series of a collective operation, some of them beside a source of detours that shares the core of the ranks.
/// Collective; the runs are on rank 0 in the order in which they were made, warm-up included. A duration is that of the
/// slowest rank. @throws as validate().
std::vector<core::CollectiveRun> measure_collectives(const World& world, const CorePlace& place,
                                                     const CollectiveOptions& options);

/// Runs a chain of dependent multiplications, nothing that the compiler could leave out; some 1.3 ns each on a CPU of
/// 3 GHz. Returns the end of the chain.
std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept;

}  // namespace hplcast::calibration
