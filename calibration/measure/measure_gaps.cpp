#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "calibration/machine/sysfs.hpp"
#include "hplcast/calibration/clock.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/calibration/measure_detours.hpp"
#include "hplcast/core/detour_trace.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr long ftq_unit = 64;  ///< multiplications of a unit of work: about 100 ns

/// Watches one core, which this process may be pinned to, in slices of time, in a thread of its own. Nothing is
/// allocated or written meanwhile.
class CoreWatch {
 public:
  CoreWatch(const GapOptions& options, const CorePlace& place) : options_(options), place_(place) {}

  /// Pins this thread, warms up, and learns the shortest loop and the work of a quantum.
  void prepare() {
    pin_this_thread(place_.pu);
    constexpr std::size_t passes_per_gap = 8;
    records_.resize(options_.most_rows * (options_.make_pass ? passes_per_gap : 1));  // touches the memory, too
    records_.clear();
    clock_step_ = shortest_loop_ = never;
    const std::int64_t until = now_ns() + 20000000;
    for (std::int64_t last = now_ns(); last < until;) {
      const std::int64_t now = now_ns();
      shortest_loop_ = std::min(shortest_loop_, now - last);
      if (now > last) clock_step_ = std::min(clock_step_, now - last);
      last = now;
    }
    if (options_.make_pass) pass_ = options_.make_pass();
    if (options_.method != GapMethod::fwq) return;
    constexpr long trial = 20000;
    const double each_ns = std::max(0.01, quickest_ns(trial) / trial);
    quantum_work_ = std::max(1L, std::lround(options_.quantum_s * 1e9 / each_ns));
    pass_ = [this] { chain_ = compute(chain_, quantum_work_); };
  }

  /// Watches from `begin` to `end`, or until the records are full.
  void watch(std::int64_t begin, std::int64_t end) {
    pin_this_thread(place_.pu);
    records_.clear();
    probe_speed();
    constexpr std::int64_t awake_before = 2000000;
    if (begin - now_ns() > awake_before) sleep_until_ns(begin - awake_before);
    while (now_ns() < begin) {
    }
    const std::int64_t cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    begin_ = now_ns();
    if (options_.method == GapMethod::gaps && !pass_) watch_gaps(end);
    if (pass_) watch_fixed_work(end);
    if (options_.method == GapMethod::ftq) watch_fixed_time(end);
    cpu_ = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
    probe_speed();
    if (!options_.make_pass) return;
    const std::vector<WatchRecord> gaps = gaps_of_passes(records_, 1e9 * options_.threshold_s);
    records_.assign(gaps.begin(),
                    gaps.begin() + static_cast<std::ptrdiff_t>(std::min(gaps.size(), options_.most_rows)));
  }

  /// Least step of the clock that is not 0, in ns.
  std::int64_t clock_step() const noexcept { return clock_step_; }
  const std::vector<WatchRecord>& records() const noexcept { return records_; }
  std::int64_t begin() const noexcept { return begin_; }
  std::int64_t end() const noexcept { return end_; }
  /// Processor time of this thread from begin() to end().
  double cpu_s() const noexcept { return 1e-9 * static_cast<double>(cpu_); }
  double unit_s() const noexcept { return 1e-9 * static_cast<double>(unit_); }
  double drift() const noexcept { return least_probe_ > 0 ? most_probe_ / least_probe_ - 1 : 0; }
  int core() const noexcept { return place_.core; }

 private:
  /// The quickest of several tries: the frequency, not what disturbs.
  double quickest_ns(long multiplications) {
    std::int64_t least = never;
    for (int i = 0; i < 50; ++i) {
      const std::int64_t before = now_ns();
      chain_ = compute(chain_, multiplications);
      least = std::min(least, now_ns() - before);
    }
    return static_cast<double>(least);
  }

  void probe_speed() {
    const double probe = quickest_ns(10000);
    least_probe_ = least_probe_ > 0 ? std::min(least_probe_, probe) : probe;
    most_probe_ = std::max(most_probe_, probe);
  }

  void watch_gaps(std::int64_t end) {
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
    unit_ = std::min(least, shortest_loop_);
  }

  void watch_fixed_work(std::int64_t end) {
    std::int64_t now = now_ns(), least = never;
    while (now < end && !full()) {
      const std::int64_t start = now_ns();
      pass_();
      now = now_ns();
      least = std::min(least, now - start);
      records_.push_back({start, now - start, quantum_work_});
    }
    end_ = now;
    unit_ = least;
  }

  void watch_fixed_time(std::int64_t end) {
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
    unit_ = least;
  }

  bool full() const noexcept { return records_.size() == records_.capacity(); }

  const GapOptions& options_;
  CorePlace place_;
  std::vector<WatchRecord> records_;
  std::function<void()> pass_;  ///< fixed work
  std::int64_t clock_step_ = 0, shortest_loop_ = 0, begin_ = 0, end_ = 0, cpu_ = 0, unit_ = 0;
  long quantum_work_ = 1;
  double least_probe_ = 0, most_probe_ = 0;
  std::uint64_t chain_ = 1;
};

core::DetourRowKind kind_of(GapMethod method) {
  if (method == GapMethod::fwq) return core::DetourRowKind::fwq;
  return method == GapMethod::ftq ? core::DetourRowKind::ftq : core::DetourRowKind::gap;
}

/// All cores, slice by slice.
class Measurement {
 public:
  Measurement(const GapOptions& options, std::ostream& out) : options_(options), out_(out) {
    for (const CorePlace& place : options.cores) watches_.emplace_back(options, place);
    report_.rows.resize(watches_.size());
  }

  GapReport run() {
    require_pinnable(options_.cores);
    in_threads(watches_.size(), [&](std::size_t i) { watches_[i].prepare(); });
    require_fine_clock();
    const StealTicks steal_before = steal_ticks(first_line("/proc/stat"));
    // Times count from the whole second of Unix time in which the measurement begins.
    const std::int64_t epoch_s = now_ns(CLOCK_REALTIME) / 1000000000;
    epoch_ns_ = epoch_s * 1000000000 - (now_ns(CLOCK_REALTIME) - now_ns());
    out_ << core::detour_csv_header << '\n';
    core::write_row(out_, {core::DetourRowKind::epoch, "", 0, static_cast<double>(epoch_s), 0, 0, 0});
    double left_s = options_.for_s;
    while (left_s > 1e-9) {
      const double slice_s = std::min(left_s, options_.slice_s);
      watch_slice(slice_s);
      left_s -= slice_s;
      if (options_.progress) options_.progress(1 - left_s / options_.for_s);
    }
    finish(steal_before);
    return report_;
  }

 private:
  void require_fine_clock() const {
    for (const CoreWatch& watch : watches_) {
      const double step_s = 1e-9 * static_cast<double>(watch.clock_step());
      const double needed_s = options_.method == GapMethod::gaps ? options_.threshold_s : options_.quantum_s / 100;
      if (step_s > needed_s)
        throw core::InputError(
            "the clock is too coarse: it goes on by " +
            core::printed("%.3g us at least; expected at most %.3g us", 1e6 * step_s, 1e6 * needed_s) +
            "\n  hint: a larger --threshold or --quantum; `hplcast doctor` names the clock source");
    }
  }

  void watch_slice(double slice_s) {
    const std::int64_t begin = now_ns() + 20000000, end = begin + std::llround(slice_s * 1e9);
    in_threads(watches_.size(), [&](std::size_t i) { watches_[i].watch(begin, end); });
    for (std::size_t i = 0; i < watches_.size(); ++i) write(watches_[i], report_.rows[i]);
    if (!out_.flush()) throw core::InputError("the results cannot be written");
  }

  double seconds(std::int64_t moment) const { return 1e-9 * static_cast<double>(moment - epoch_ns_); }

  void write(const CoreWatch& watch, GapRow& row) {
    core::DetourRow csv{kind_of(options_.method), options_.host, watch.core(), 0, 0, 0, 0};
    for (const WatchRecord& record : watch.records()) {
      csv.start_s = seconds(record.start);
      csv.duration_s = 1e-9 * static_cast<double>(record.duration);
      csv.work = static_cast<double>(record.work);
      core::write_row(out_, csv);
      add(row, csv, watch.unit_s());
    }
    const double watched_s = 1e-9 * static_cast<double>(watch.end() - watch.begin());
    core::write_row(out_, {core::DetourRowKind::window, options_.host, watch.core(), seconds(watch.begin()), watched_s,
                           0, watch.unit_s()});
    if (watch.records().size() == options_.most_rows) ++cut_slices_;
    row.core = watch.core();
    row.watched_s += watched_s;
    row.waited_s += std::max(0.0, watched_s - watch.cpu_s());
    row.speed_drift = std::max(row.speed_drift, watch.drift());
  }

  void add(GapRow& row, const core::DetourRow& csv, double unit_s) const {
    double lost_s = csv.duration_s;
    if (options_.method == GapMethod::fwq) lost_s -= unit_s;
    if (options_.method == GapMethod::ftq) lost_s = std::max(0.0, lost_s - csv.work * unit_s);
    ++row.events;
    row.lost_s += lost_s;
    row.longest_s = std::max(row.longest_s, lost_s);
  }

  void finish(const StealTicks& before) {
    const StealTicks after = steal_ticks(first_line("/proc/stat"));
    const bool known = after.stolen && before.stolen && after.all > before.all;
    const double stolen = known ? (*after.stolen - *before.stolen) / (after.all - before.all) : 0;
    // The smallest that a tick of 10 ms in 10 s can tell.
    if (stolen > 1e-3)
      report_.warnings.push_back("other virtual machines took " + core::printed("%.2g %% of the time", 100 * stolen));
    if (cut_slices_ > 0)
      report_.warnings.push_back("in " + std::to_string(cut_slices_) + " slices a core had more than " +
                                 std::to_string(options_.most_rows) +
                                 " rows, and was watched for a part of them only; "
                                 "a larger --threshold or --quantum keeps fewer");
    for (const GapRow& row : report_.rows) {
      const std::string core = "core " + std::to_string(row.core) + ": ";
      if (row.speed_drift > 0.02)
        report_.warnings.push_back(core + "its speed changed by " + core::printed("%.2g %%", 100 * row.speed_drift) +
                                   " meanwhile (frequency, or a neighbour on its hardware threads)");
      if (row.lost_s > 0.2 * row.watched_s)
        report_.warnings.push_back(core + "was taken away for " +
                                   core::printed("%.3g %% of the time", 100 * row.lost_s / row.watched_s) +
                                   ": another program shares it");
    }
  }

  const GapOptions& options_;
  std::ostream& out_;
  std::vector<CoreWatch> watches_;
  std::int64_t epoch_ns_ = 0;
  long cut_slices_ = 0;
  GapReport report_;
};

}  // namespace

void validate(const GapOptions& options) {
  if (options.cores.empty()) throw core::DomainError("cores", 0.0, "at least one");
  core::require(options.for_s > 0 && options.for_s <= 1e6, "time to watch", options.for_s, "above 0, at most 1e6 s");
  if (!(options.slice_s > 0)) throw core::DomainError("slice", options.slice_s, "a time above 0");
  if (!(options.threshold_s > 0) || !(options.threshold_s < 1))
    throw core::DomainError("threshold", options.threshold_s, "above 0, below 1 s");
  if (options.method != GapMethod::gaps && (!(options.quantum_s >= 1e-5) || !(10 * options.quantum_s <= options.for_s)))
    throw core::DomainError("quantum", options.quantum_s, "at least 10 us, and at least ten of them in the time");
  if (options.most_rows < 2) throw core::DomainError("rows", options.most_rows, "at least 2");
}

std::vector<WatchRecord> gaps_of_passes(const std::vector<WatchRecord>& passes, double threshold_ns) {
  constexpr std::size_t around = 31;
  std::vector<double> excesses, near(around);
  for (std::size_t i = 0; i < passes.size() && around <= passes.size(); ++i) {
    const WatchRecord* const first = &passes[std::clamp(i, around / 2, passes.size() - around / 2 - 1) - around / 2];
    std::transform(first, first + around, near.begin(),
                   [](const auto& pass) { return static_cast<double>(pass.duration); });
    excesses.push_back(static_cast<double>(passes[i].duration) - core::upper_median(near));
  }
  if (excesses.empty()) return {};
  const double sd = core::sd_of_median_distance * core::median_distance(excesses, 0);
  // So many normal values hardly have one that far away (Donoho and Johnstone 1994).
  const double limit = threshold_ns + sd * std::sqrt(2 * std::log(static_cast<double>(passes.size())));
  std::vector<WatchRecord> gaps;
  double before = 0;  // of a detour that may go on
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool goes_on = excesses[i] > 2 * sd && excesses[i] < before;
    if (!goes_on && excesses[i] > limit) gaps.push_back({passes[i].start, 0, 0});
    before = goes_on || excesses[i] > limit ? excesses[i] : 0;
    if (before > 0) gaps.back().duration += std::llround(before);
  }
  return gaps;
}

GapReport measure_gaps(const GapOptions& options, std::ostream& out) {
  validate(options);
  return Measurement(options, out).run();
}

}  // namespace hplcast::calibration
