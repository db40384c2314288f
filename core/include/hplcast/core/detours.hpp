#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

/// Detours: what takes the CPU away from a rank for a while (monitoring agents, daemons, ticks). The list `detours` of
/// cluster.json; what they do to a rank's work is in detour_clock.hpp. The lists of kinds are `DetourTimes` and
/// `DetourDuration`: each has `kind`, its name in cluster.json; whoever treats them in different ways visits them with
/// a function for each (Visitor in topology.hpp), so that one that is forgotten does not compile.
namespace hplcast::core {

/// One detour per period: number k begins at phase + k period + jitter(k).
struct PeriodicDetours {
  static constexpr const char* kind = "periodic";
  double jitter_s = 0;            ///< jitter(k) is uniform in [0, jitter_s); at most a period
  std::optional<double> phase_s;  ///< the same for all; nothing: uniform in [0, period), drawn for each core (or host)
};
/// Detours at independent random instants, one per period on average.
struct PoissonDetours {
  static constexpr const char* kind = "poisson";
};
using DetourTimes = std::variant<PeriodicDetours, PoissonDetours>;

// The laws of durations. sample_s() turns a number of (0, 1) into a duration, and never falls with it.

struct ConstantDuration {
  static constexpr const char* kind = "constant";
  double constant_s = 0;
  double mean_s() const { return constant_s; }
  double sample_s(double) const { return constant_s; }
};
struct ExponentialDuration {
  static constexpr const char* kind = "exponential";
  double expected_s = 0;
  double mean_s() const { return expected_s; }
  double sample_s(double uniform) const;
};
struct UniformDuration {
  static constexpr const char* kind = "uniform";
  double least_s = 0, most_s = 0;
  double mean_s() const { return (least_s + most_s) / 2; }
  double sample_s(double uniform) const { return least_s + uniform * (most_s - least_s); }
};
/// Quantiles at equal steps of probability from 0 to 1, linear between them: two or more, none below the one before.
struct QuantileDuration {
  static constexpr const char* kind = "quantiles";
  std::vector<double> quantiles_s;
  double mean_s() const;
  double sample_s(double uniform) const;
};
using DetourDuration = std::variant<ConstantDuration, ExponentialDuration, UniformDuration, QuantileDuration>;

double mean_s(const DetourDuration& duration);
/// @param uniform in (0, 1)
double sample_s(const DetourDuration& duration, double uniform);
/// The longest there is; nothing if there is no such limit.
std::optional<double> longest_s(const DetourDuration& duration);
/// All durations times `factor` >= 0.
DetourDuration scaled(const DetourDuration& duration, double factor);

/// Cores that a detour holds up at the same instant.
enum class DetoursPer { core, host, cluster };
HPLCAST_ENUM_NAMES(DetoursPer, "per", "core", "host", "cluster");

/// One cause of detours.
class DetourSource {
 public:
  struct Values {
    std::string name;
    DetourTimes times = PeriodicDetours();
    double period_s = 1;  ///< of poisson: the mean interval
    DetourDuration duration = ConstantDuration();
    DetoursPer per = DetoursPer::core;
    bool in_kernels = false;  ///< the measured durations of kernels contain these detours already
    /// The only cores of each host that are hit, counted from 0, ascending; empty: all.
    std::vector<int> cores = {};
  };
  DetourSource() = default;
  /// @throws DomainError for an empty name, a period that is not above 0, times that are negative or not finite,
  /// quantiles that fall, a jitter longer than the period, a mean duration not shorter than the period (nothing else
  /// would get done), and cores that are negative or do not ascend.
  static DetourSource make(Values values);

  const Values& values() const noexcept { return values_; }
  const char* kind() const;
  /// Share of the time of a core that it hits: mean duration / period, below 1.
  double share() const { return mean_s(values_.duration) / values_.period_s; }
  /// Number `core` of a host.
  bool hits(int core) const;
  /// Mean of share() over the cores of a host.
  double mean_share(int cores_of_host) const;

 private:
  Values values_;
};

/// Share of a core's time: whatever takes more is a program that shares the core, not an agent or a daemon.
constexpr double much_for_detours = 0.1;

/// Share of the time of the core that is hit most.
double most_share(const std::vector<DetourSource>& sources);

/// @throws DomainError if two sources have the same name, or those of a core together take its whole time.
void check_detours(const std::vector<DetourSource>& sources);
/// @throws DomainError for a source of a core that a host of so many does not have.
void check_detour_cores(const std::vector<DetourSource>& sources, int cores_of_host);

/// As the list `detours` stands in cluster.json, in an object {"detours": [...]}, as indented JSON text.
std::string detours_json(const std::vector<DetourSource>& sources);
/// Reads that; a `report` beside the list is left to others. @throws ParseError
std::vector<DetourSource> read_detours(std::istream& in, const std::string& name);

/// Where and when detours are looked at.
struct DetourPlace {
  std::uint64_t seed = 0;
  std::uint32_t core = 0;  ///< of the whole machine
  std::uint32_t host = 0;
  double origin_s = 0;   ///< at least 0: time 0 of the clock in the time of the sources' phases
  int core_of_host = 0;  ///< for sources that hit some cores only
};

/// The work of one core under detours.
///
/// Its rule, and that of after(), is in docs/models/detours.md. Work of 0 that begins in a detour ends with it, and
/// after(after(t, a), b) = after(t, a + b).
///
/// Number k of periodic detours takes its jitter and duration from draw k of the stream of (seed, source, key);
/// intervals of Poisson's are drawn anew in each cell of 8 periods, from the stream of (seed, source, key, cell): an
/// exponential law has no memory. So the detours of any instant are known without those before; but for the last one of
/// each source (of Poisson's: all of the last cell) nothing that began before time 0 still runs then.
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
