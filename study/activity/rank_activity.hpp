#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/activity_list.h"
#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/kernel_shape.hpp"

namespace hplcast::study {

/// Calls of one kernel in one class of size (core/shape_sums.h), with exact sums over them.
struct KernelCalls {
  core::KernelId kernel{};
  int size_class = 0;
  std::uint64_t calls = 0;
  double time_s = 0;
  std::array<double, HPLCAST_SHAPE_SUM_COUNT> sums{};  ///< in the order of HPLCAST_SHAPE_SUMS
};

/// One call.
struct KernelSample {
  core::KernelId kernel{};
  double time_s = 0;
  core::KernelShape shape;
};

/// The class of the product m n k: floor(log4(product)), from 0.
int size_class_of(const core::KernelShape& shape) noexcept;

/// Adds calls of the same kernel; of several classes they are no class any more.
void add(KernelCalls& to, const KernelCalls& calls) noexcept;

/// Adds one call.
void add(KernelCalls& to, const core::KernelShape& shape, double time_s) noexcept;

/// The sum of a monomial over the calls: exact for the kept ones, calls times its value at the mean sizes for others.
double sum_of(const KernelCalls& calls, const core::Monomial& monomial) noexcept;

/// The mean sizes of the calls, at least one.
core::KernelShape mean_shape(const KernelCalls& calls) noexcept;

/// The expected time in s of a model for these very calls: coefficients times sums, so exact where all calls of the
/// class are in one piece of the law and its terms are kept; else the piece at the mean sizes counts. At least 0, as in
/// the simulation.
double expected_s(const KernelCalls& calls, const core::PiecewiseLaw& law) noexcept;

/// Rank 0 asked another rank for the time, and got its answer between two readings of its own clock.
struct ClockComparison {
  int rank = 0;         ///< that answered
  double time_s = 0;    ///< its answer
  double offset_s = 0;  ///< its answer less the middle between the two readings: how far its clock is ahead
  double error_s = 0;   ///< half of the round trip, which bounds the error of the offset (Cristian 1989)
};

/// The clock of a host against that of rank 0: ahead by offset_s + drift (t - time_s) when it shows t. Two comparisons,
/// before and after the run, (t1, o1) and (t2, o2), give drift = (o2 - o1) / (t2 - t1); between them the error is at
/// most the larger of theirs if both clocks run evenly.
class HostClock {
 public:
  /// The clock of rank 0 itself.
  HostClock() = default;
  /// From the comparisons with one rank, in the order of time; without any, that of rank 0; one gives no drift.
  explicit HostClock(const std::vector<ClockComparison>& comparisons);

  /// Time on the clock of rank 0 when this one showed `time_s`.
  double at_rank_0_s(double time_s) const noexcept { return time_s - offset_s_ - drift_ * (time_s - time_s_); }

  double offset_s() const noexcept { return offset_s_; }  ///< at the first comparison
  double drift() const noexcept { return drift_; }        ///< seconds per second
  double error_s() const noexcept { return error_s_; }    ///< largest of the comparisons
  /// Whether the drift is larger than that of any clock that runs evenly (500 ppm, the most that NTP corrects), beyond
  /// what the errors of the comparisons explain.
  bool jumped() const noexcept { return jumped_; }

 private:
  double time_s_ = 0, offset_s_ = 0, drift_ = 0, error_s_ = 0;
  bool jumped_ = false;
};

/// Calls of one kind that a rank made.
struct CallSum {
  std::uint64_t calls = 0;
  double time_s = 0;
  double amount = 0;  ///< flop of kernels, bytes of messages
};

/// How a rank spent the time of one phase; exact sums.
struct PhaseSums {
  double elapsed_s = 0;  ///< without phases inside it
  std::array<CallSum, core::kernel_names.size()> kernels{};
  std::array<CallSum, core::mpi_names.size()> messages{};
  CallSum empty_probes;  ///< part of messages: probes that found nothing
};

/// Something that a rank did, in seconds since the rank's HPL_pdgesv began.
struct ActivityEvent {
  enum class Kind { phase, kernel, message };
  Kind kind = Kind::phase;
  std::uint8_t name = 0;   ///< of core::phase_names, kernel_names or mpi_names
  std::uint8_t phase = 0;  ///< of a message: in which it was
  bool sends = false;      ///< of a message: its channel begins at this rank
  double begin_s = 0, end_s = 0;
  int panel = -1;           ///< the newest that HPL had begun; -1: none
  int m = 1, n = 1, k = 1;  ///< of a kernel
  int peer = -1, tag = 0;   ///< of a message; a peer of -1 is not known
  double bytes = 0;
  std::uint32_t number = 0;  ///< of the message on its channel (source, destination, tag)
  static constexpr std::uint32_t no_number = 0xffffffffU;
};

/// Records of one rank of xhpl-instrumented (docs/formats/activity.md).
struct RankActivity {
  std::string run;  ///< the same on all ranks of a run, and in no other
  int rank = 0, ranks = 1;
  std::string host;
  int cpu = -1, core = -1;        ///< where it was when it began; -1: not known
  int first_rank_of_host = 0;     ///< whose clock was compared with that of rank 0
  int runs = 1;                   ///< of HPL_pdgesv
  double begin_s = 0, end_s = 0;  ///< of HPL_pdgesv, by the host's clock
  long long n = 0;
  int nb = 0, p = 0, q = 0;
  std::array<PhaseSums, core::phase_names.size()> phases{};
  std::vector<KernelCalls> kernel_calls;     ///< exact, by kernel and class of size
  std::vector<KernelSample> kernel_samples;  ///< a few of each class
  std::vector<ClockComparison> clocks;       ///< of rank 0
  double overhead_s = 0;                     ///< that keeping all this took, estimated
  int stride = 1;                            ///< events are of every `stride`-th panel
  std::uint64_t lost_events = 0;             ///< that found no place nevertheless
  std::vector<ActivityEvent> events;
};

/// @throws core::ParseError for anything that xhpl-instrumented does not write, and for a file that ends early.
RankActivity read_rank_activity(std::istream& in, const std::string& name);

}  // namespace hplcast::study
