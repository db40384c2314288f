#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "hplcast/core/detours.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::core {

/// Where and when detours are looked at.
struct DetourPlace {
  std::uint64_t seed = 0;
  std::uint32_t core = 0;  ///< of the whole machine
  std::uint32_t host = 0;
  double origin_s = 0;   ///< at least 0: time 0 of the clock in the time of the sources' phases
  int core_of_host = 0;  ///< for sources that hit some cores only
};

/// What detours make of the work of one core.
///
/// The rule: detours begin when their sources say so, whether the core works or waits. One at a time runs; one that
/// comes while another runs begins when that has ended (they queue, in the order in which they come). Work goes on
/// whenever none runs. The core is thus busy in intervals of time that depend on nothing but the sources, the seed and
/// the place: cores with equal keys (the core, the host or nothing, as `per` says) are busy at the same times, and who
/// waits through a detour loses nothing.
///
///     after(t, work) = the first instant from t on at which the core is not busy and `work` is done
///
/// So work of 0 that begins in a detour ends with it, and after(after(t, a), b) = after(t, a + b).
///
/// Number k of periodic detours takes its jitter and duration from draw k of the stream of (seed, source, key);
/// intervals of Poisson's are drawn anew in each cell of 8 periods, from the stream of (seed, source, key, cell): an
/// exponential law has no memory. So the detours of any instant are known without those before; but for the last one of
/// each source (of Poisson's: all of the last cell) nothing that began before time 0 still runs then.
///
/// A value: copies look ahead. The usual call costs two comparisons.
class DetourClock {
 public:
  enum class Which {
    all,
    not_in_kernels,  ///< those that the measured durations of kernels do not contain
  };
  /// Without detours. after() adds.
  DetourClock() = default;
  /// `sources` (as in a ClusterModel) must outlive this and its copies.
  DetourClock(const std::vector<DetourSource>& sources, const DetourPlace& place, Which which = Which::all);

  /// Whether any source hits this core.
  bool any() const { return !streams_.empty(); }

  /// When `work_s` >= 0 that begins at `begin_s` ends, both in s. `begin_s` must not be before the end of an earlier
  /// call's result (copies have pasts of their own), but for rounding.
  double after(double begin_s, double work_s) {
    const double end_s = begin_s + work_s;
    return begin_s >= quiet_from_s_ && end_s < quiet_until_s_ ? end_s : after_detours(begin_s, work_s);
  }
  /// How much work gets done from `begin_s` until `end_s`, in s: the time in which no detour runs. Then the clock is
  /// past `end_s` as after a call of after().
  double free_s(double begin_s, double end_s);

 private:
  /// The detours of one source, one after the other.
  struct Stream {
    const DetourSource::Values* source = nullptr;
    StreamName name;
    double phase_s = 0;     // periodic: of number 0, in the clock's time; Poisson: begin of cell 0
    std::int64_t next = 0;  // periodic: number of the detour; Poisson: its number in the cell
    std::int64_t cell = 0;
    double in_cell_s = 0;
    std::uint64_t drawn = std::numeric_limits<std::uint64_t>::max();  // which draws these are
    std::array<double, 4> draws{};
    double begin_s = 0;  // of the next detour
    double duration_s = 0;

    void start(const DetourPlace& place);
    void find();
    void find(const PeriodicDetours& times);
    void find(const PoissonDetours& times);
    const double* pair(std::int64_t number);
  };

  double after_detours(double begin_s, double work_s);
  void skip_to(double time_s);
  void next_busy_time();
  Stream& first();

  double quiet_from_s_ = -std::numeric_limits<double>::infinity();
  double quiet_until_s_ = std::numeric_limits<double>::infinity();
  bool may_skip_ = false;  // no detour can reach the next one
  std::vector<Stream> streams_;
};

}  // namespace hplcast::core
