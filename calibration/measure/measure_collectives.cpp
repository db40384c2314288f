#include "hplcast/calibration/measure_detours.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <future>
#include <optional>
#include <set>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// Calls of the operation, with their buffers.
class Caller {
 public:
  Caller(const CollectiveOptions& options, int ranks)
      : operation_(options.operation), bytes_(static_cast<int>(options.size_bytes)) {
    if (operation_ == Collective::barrier) return;
    const auto parts = static_cast<std::size_t>(operation_ == Collective::alltoall ? ranks : 1);
    sent_.assign(parts * static_cast<std::size_t>(bytes_) / sizeof(double) + 1, 1.0);
    received_ = sent_;
  }

  void call() {
    constexpr int each = sizeof(double);
    if (operation_ == Collective::barrier) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (operation_ == Collective::allreduce) {
      MPI_Allreduce(sent_.data(), received_.data(), std::max(1, bytes_ / each), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    } else {
      MPI_Alltoall(sent_.data(), bytes_, MPI_BYTE, received_.data(), bytes_, MPI_BYTE, MPI_COMM_WORLD);
    }
  }

 private:
  Collective operation_;
  int bytes_;
  std::vector<double> sent_, received_;
};

/// A source of detours while it lives.
class SourceThread {
 public:
  explicit SourceThread(NoiseSourceOptions source)
      : rows_(std::async(std::launch::async, run_noise_source, std::move(source), std::cref(stop_))) {}
  ~SourceThread() { stop_ = true; }

  /// Processor time that it has used. @throws what it has thrown.
  double stop() {
    stop_ = true;
    const std::vector<NoiseSourceRow> rows = rows_.get();
    return rows.empty() ? 0 : rows.front().busy_s;
  }

 private:
  std::atomic<bool> stop_{false};
  std::future<std::vector<NoiseSourceRow>> rows_;  ///< last: it waits for the thread
};

class Study {
 public:
  Study(const World& world, const CorePlace& place, const CollectiveOptions& options)
      : world_(world), place_(place), options_(options), caller_(options, world.size()), count_(options.count) {}

  std::vector<core::CollectiveRun> run() {
    const std::vector<SeriesRun> series = make_series(options_.series);
    if (count_ == 0) count_ = calls_that_take(options_.run_s);
    std::vector<core::CollectiveRun> runs;
    for (std::size_t i = 0; i < series.size(); ++i) {
      runs.push_back(one(series[i], static_cast<unsigned>(i)));
      if (world_.rank() == 0 && options_.progress)
        options_.progress(static_cast<double>(i + 1) / static_cast<double>(series.size()));
    }
    return runs;
  }

 private:
  /// Doubled until a series is long enough to tell.
  long calls_that_take(double wanted_s) {
    long calls = 16;
    for (;;) {
      const double took_s = timed(calls);
      if (took_s > 0.1 * wanted_s || calls > 1000000000) {
        const double wanted = static_cast<double>(calls) * wanted_s / std::max(took_s, 1e-9);
        return std::max(1L, std::lround(std::min(wanted, 1e9)));
      }
      calls *= 2;
    }
  }

  /// Time of `calls` calls on the slowest rank, in s.
  double timed(long calls) {
    world_.barrier();
    const double begin_s = now_s();
    for (long call = 0; call < calls; ++call) caller_.call();
    return world_.max(now_s() - begin_s);
  }

  core::CollectiveRun one(const SeriesRun& planned, unsigned number) {
    const bool has_source = planned.level > 0 && (options_.place == SourcePlace::core || world_.local_rank() == 0);
    std::optional<SourceThread> source;
    const auto rank = static_cast<unsigned>(world_.rank());
    if (has_source) {
      const double until_stopped_s = std::max(1e6, options_.period_s);
      source.emplace(NoiseSourceOptions{options_.period_s,
                                        planned.level * options_.period_s,
                                        options_.synchronous,
                                        options_.clock,
                                        until_stopped_s,
                                        {place_},
                                        static_cast<unsigned>(options_.series.seed) * 7919 + number * 104729 + rank});
    }
    // As long with and without a source: it begins 10 ms after its thread.
    sleep_s(15e-3);
    core::CollectiveRun run;
    world_.barrier();
    run.start_s = now_s() - options_.epoch_s;
    const double alive_from_s = now_s();
    run.duration_s = timed(count_);
    const double alive_s = now_s() - alive_from_s;
    const double busy_s = source ? source->stop() : 0;
    const double duty = alive_s > 0 ? busy_s / alive_s : 0;
    run.operation = core::to_string(options_.operation);
    run.size_bytes = options_.operation == Collective::barrier ? 0 : static_cast<double>(options_.size_bytes);
    run.count = count_;
    run.ranks = world_.size();
    run.hosts = static_cast<long>(std::set<std::string>(world_.hosts().begin(), world_.hosts().end()).size());
    run.level = planned.level;
    run.duty = world_.max(duty);
    run.period_s = planned.level > 0 ? options_.period_s : 0;
    run.warm_up = planned.warm_up;
    return run;
  }

  const World& world_;
  CorePlace place_;
  const CollectiveOptions& options_;
  Caller caller_;
  long count_ = 0;
};

}  // namespace

void validate(const CollectiveOptions& options, const World& world) {
  make_series(options.series);
  if (world.size() < 2)
    throw core::InputError(
        "a collective of one rank waits for nobody; expected at least 2\n  hint: start it with mpirun -np 2");
  if (options.count < 0) throw core::DomainError("count", options.count, "at least 1");
  core::require(options.run_s > 0 && options.run_s <= 1e5, "run time", options.run_s, "above 0, at most 1e5 s");
  core::require(options.size_bytes >= 1 && options.size_bytes <= 1L << 30, "size", options.size_bytes, "1 B to 1 GiB");
  core::require(options.period_s > 0 && options.period_s <= 1e4, "period", options.period_s, "above 0, at most 1e4 s");
  for (const double level : options.series.levels)
    core::require(level <= 0 || level * options.period_s >= 5e-6, "level", level,
                  "at least 5 us of work per period: a process needs that to wake and sleep",
                  "a longer --period, or no such level");
}

std::vector<core::CollectiveRun> measure_collectives(const World& world, const CorePlace& place,
                                                     const CollectiveOptions& options) {
  validate(options, world);
  return Study(world, place, options).run();
}

}  // namespace hplcast::calibration
