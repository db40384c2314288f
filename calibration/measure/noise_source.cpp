#include <algorithm>
#include <cmath>
#include <set>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/measure_detours.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

std::uint64_t compute(std::uint64_t chain, long multiplications) noexcept {
  volatile std::uint64_t end = chain;
  std::uint64_t value = end;
  for (long i = 0; i < multiplications; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  end = value;
  return end;
}

namespace {

constexpr std::int64_t second_ns = 1000000000;
constexpr std::int64_t longest_sleep_ns = second_ns / 10;  ///< `stop` is looked at that often

std::int64_t to_ns(double s) {
  return static_cast<std::int64_t>(std::llround(s * 1e9));
}

/// Processor time of the calling thread.
std::int64_t cpu_ns() {
  return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// One core's thread.
class Source {
 public:
  Source(const NoiseSourceOptions& options, const CorePlace& place, const std::atomic<bool>& stop)
      : options_(options), place_(place), stop_(stop), clock_(options.synchronous ? CLOCK_REALTIME : CLOCK_MONOTONIC) {}

  NoiseSourceRow run() {
    if (!pin_this_thread(place_.pu)) return row_;  // as required before, unless someone has bound us meanwhile
    row_.core = place_.core;
    const std::int64_t period = to_ns(options_.period_s), first = first_begin(period);
    const long last = static_cast<long>(options_.for_s / options_.period_s * (1 + 1e-12));
    for (long number = 0; number < last && !stop_; ++number) {
      const std::int64_t begin = first + number * period;
      const bool is_lost = now_ns(clock_) >= begin + period;  // the one before took all the time of this one
      if (!is_lost && !wait_until(begin)) break;
      ++row_.periods;
      if (is_lost) continue;
      note_lateness(now_ns(clock_) - begin);
      work();
    }
    const double planned_s = static_cast<double>(row_.periods) * options_.period_s;
    if (row_.events > 0) row_.mean_lateness_s /= static_cast<double>(row_.events);
    if (planned_s > 0) row_.duty = row_.busy_s / planned_s;
    return row_;
  }

 private:
  /// Synchronous: the next multiple of the period, at least 10 ms from now. Else a random phase.
  std::int64_t first_begin(std::int64_t period) const {
    const std::int64_t soon = now_ns(clock_) + second_ns / 100;
    if (options_.synchronous) return (soon / period + 1) * period;
    const core::StreamName name{options_.seed, core::stream_design, static_cast<std::uint32_t>(place_.core), 0, 0};
    return soon + static_cast<std::int64_t>(core::draw(name, 0).uniform * static_cast<double>(period));
  }

  bool wait_until(std::int64_t begin) const {
    for (;;) {
      if (stop_) return false;
      const std::int64_t now = now_ns(clock_);
      if (now >= begin) return true;
      sleep_until_ns(std::min(begin, now + longest_sleep_ns), clock_);
    }
  }

  void note_lateness(std::int64_t lateness) {
    const double late_s = 1e-9 * static_cast<double>(lateness);
    ++row_.events;
    row_.mean_lateness_s += late_s;  // a sum, until the end
    row_.longest_lateness_s = std::max(row_.longest_lateness_s, late_s);
    if (late_s > std::max(1e-3, options_.duration_s / 10)) ++row_.late;
  }

  void work() {
    constexpr long piece = 500;  // multiplications, below 1 us: how exactly an event ends
    const std::int64_t duration = to_ns(options_.duration_s), cpu_begin = cpu_ns(), wall_begin = now_ns();
    const bool by_cpu = options_.clock == WorkClock::cpu;
    while ((by_cpu ? cpu_ns() - cpu_begin : now_ns() - wall_begin) < duration && !stop_)
      chain_ = compute(chain_, piece);
    row_.busy_s += 1e-9 * static_cast<double>(cpu_ns() - cpu_begin);
    row_.wall_s += 1e-9 * static_cast<double>(now_ns() - wall_begin);
  }

  const NoiseSourceOptions& options_;
  CorePlace place_;
  const std::atomic<bool>& stop_;
  clockid_t clock_;
  std::uint64_t chain_ = 1;
  NoiseSourceRow row_;
};

}  // namespace

void validate(const NoiseSourceOptions& options) {
  core::require(options.period_s > 0 && std::isfinite(options.period_s), "period", options.period_s, "a time above 0");
  if (!(options.duration_s > 0) || !(options.duration_s < options.period_s))
    throw core::DomainError("duration", options.duration_s, "a time above 0 and below the period");
  // One event should be longer than what starting and ending it costs, some microseconds.
  if (options.duration_s < 5e-6)
    throw core::DomainError("duration", options.duration_s, "at least 5 us: a process needs that to wake and sleep");
  if (!(options.for_s >= options.period_s) || !(options.for_s <= 1e8))
    throw core::DomainError("time to work for", options.for_s, "at least one period, at most 1e8 s");
  if (options.cores.empty()) throw core::DomainError("cores", 0.0, "at least one");
}

std::vector<NoiseSourceRow> run_noise_source(const NoiseSourceOptions& options, const std::atomic<bool>& stop) {
  validate(options);
  require_pinnable(options.cores);
  std::vector<NoiseSourceRow> rows(options.cores.size());
  in_threads(rows.size(), [&](std::size_t i) { rows[i] = Source(options, options.cores[i], stop).run(); });
  return rows;
}

std::vector<std::string> noise_source_warnings(const NoiseSourceOptions& options,
                                               const std::vector<NoiseSourceRow>& rows) {
  std::vector<std::string> warnings;
  const double wanted = options.duration_s / options.period_s;
  for (const NoiseSourceRow& row : rows) {
    if (row.periods == 0) continue;  // told to end before the first
    const std::string core = "core " + std::to_string(row.core) + ": ";
    if (row.duty < 0.95 * wanted)
      warnings.push_back(core + "could not keep its duty: " +
                         core::printed("%.3g %% of the time, not %.3g %%", 100 * row.duty, 100 * wanted) +
                         (options.clock == WorkClock::wall ? " (its core is shared, and --clock wall gives up)" : ""));
    if (10 * row.late > row.events)
      warnings.push_back(core + "began late in " + std::to_string(row.late) + " of " + std::to_string(row.events) +
                         " periods, by up to " + core::printed("%.3g ms", 1e3 * row.longest_lateness_s));
  }
  return warnings;
}

std::vector<SeriesRun> make_series(const SeriesPlan& plan) {
  if (plan.levels.empty()) throw core::DomainError("levels", 0.0, "at least one");
  for (const double level : plan.levels)
    if (!(level >= 0) || !(level < 1)) throw core::DomainError("level", level, "a share of time in [0, 1)");
  if (std::set<double>(plan.levels.begin(), plan.levels.end()).size() != plan.levels.size())
    throw core::DomainError("levels", "there twice", "each level once");
  core::require(plan.runs >= 2 && plan.runs <= 100000, "runs", plan.runs,
                "at least 2 of each level (one has no scatter), at most 100000");
  core::require(plan.warm_up >= 0 && plan.warm_up <= 1000, "warm-up", plan.warm_up, "0 to 1000");
  std::vector<SeriesRun> runs(static_cast<std::size_t>(plan.warm_up), SeriesRun{0, true});
  core::RandomStream random({plan.seed, core::stream_design, 0, 1, 0});
  const std::size_t clean = std::max<std::size_t>(1, plan.levels.size() / 2);
  for (int block = 0; block < plan.runs; ++block) {
    std::vector<SeriesRun> some(clean);
    for (const double level : plan.levels) some.push_back({level, false});
    core::shuffle(some, random);
    runs.insert(runs.end(), some.begin(), some.end());
  }
  return runs;
}

}  // namespace hplcast::calibration
