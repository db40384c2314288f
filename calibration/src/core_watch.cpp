#include "core_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/pinned_thread.hpp"

namespace hplcast::calibration {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr long ftq_unit = 64;  ///< multiplications of a unit of work: about 100 ns

}  // namespace

CoreWatch::CoreWatch(const GapOptions& options, const CorePlace& place) : options_(options), place_(place) {}

void CoreWatch::probe_speed() {
  // The quickest of several: the frequency, not what disturbs.
  std::int64_t least = never;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t before = now_ns();
    chain_ = compute(chain_, 10000);
    least = std::min(least, now_ns() - before);
  }
  const auto probe = static_cast<double>(least);
  least_probe_ = least_probe_ > 0 ? std::min(least_probe_, probe) : probe;
  most_probe_ = std::max(most_probe_, probe);
}

void CoreWatch::prepare() {
  pin_this_thread(place_.pu);
  records_.resize(options_.most_rows);  // touches the memory, too
  records_.clear();
  clock_step_ = shortest_loop_ = never;
  const std::int64_t until = now_ns() + 20000000;
  for (std::int64_t last = now_ns(); last < until;) {
    const std::int64_t now = now_ns();
    shortest_loop_ = std::min(shortest_loop_, now - last);
    if (now > last) clock_step_ = std::min(clock_step_, now - last);
    last = now;
  }
  if (options_.method != GapMethod::fwq) return;
  // Enough multiplications for a quantum, from the quickest of several trials.
  constexpr long trial = 20000;
  std::int64_t least = never;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t before = now_ns();
    chain_ = compute(chain_, trial);
    least = std::min(least, now_ns() - before);
  }
  const double each_ns = std::max(0.01, static_cast<double>(least) / trial);
  quantum_work_ = std::max(1L, std::lround(options_.quantum_s * 1e9 / each_ns));
}

void CoreWatch::watch(std::int64_t begin, std::int64_t end) {
  pin_this_thread(place_.pu);
  records_.clear();
  probe_speed();
  constexpr std::int64_t awake_before = 2000000;
  if (begin - now_ns() > awake_before) sleep_until_ns(begin - awake_before);
  while (now_ns() < begin) {
  }
  const std::int64_t cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  begin_ = now_ns();
  if (options_.method == GapMethod::gaps) watch_gaps(end);
  if (options_.method == GapMethod::fwq) watch_fixed_work(end);
  if (options_.method == GapMethod::ftq) watch_fixed_time(end);
  cpu_ = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  probe_speed();
}

void CoreWatch::watch_gaps(std::int64_t end) {
  const std::int64_t limit = shortest_loop_ + std::llround(options_.threshold_s * 1e9);
  std::int64_t last = now_ns(), now = last, least = never;
  while (now < end && !full()) {
    now = now_ns();
    const std::int64_t gap = now - last;
    least = std::min(least, gap);
    if (gap > limit) {
      records_.push_back({last, gap - shortest_loop_, 0});
      now = now_ns();  // noting it is no detour
    }
    last = now;
  }
  end_ = now;
  unit_s_ = 1e-9 * static_cast<double>(std::min(least, shortest_loop_));
}

void CoreWatch::watch_fixed_work(std::int64_t end) {
  std::int64_t now = now_ns(), least = never;
  while (now < end && !full()) {
    const std::int64_t start = now_ns();
    chain_ = compute(chain_, quantum_work_);
    now = now_ns();
    least = std::min(least, now - start);
    records_.push_back({start, now - start, quantum_work_});
  }
  end_ = now;
  unit_s_ = 1e-9 * static_cast<double>(least);
}

void CoreWatch::watch_fixed_time(std::int64_t end) {
  const std::int64_t quantum = std::llround(options_.quantum_s * 1e9);
  std::int64_t now = now_ns(), deadline = now + quantum, least = never;
  while (now < end && !full()) {
    const std::int64_t start = now;
    std::int64_t units = 0;
    while (now < deadline) {
      const std::int64_t before = now;
      chain_ = compute(chain_, ftq_unit);
      now = now_ns();
      least = std::min(least, now - before);
      ++units;
    }
    records_.push_back({start, now - start, units});
    // The next deadline keeps the raster, however late this one was noticed.
    deadline += (now - deadline) / quantum * quantum + quantum;
  }
  end_ = now;
  unit_s_ = 1e-9 * static_cast<double>(least);
}

}  // namespace hplcast::calibration
