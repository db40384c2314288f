#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/core/activity_names.hpp"
#include "hplcast/core/kernel_id.hpp"
#include "hplcast/study/clock_alignment.hpp"
#include "kernel_calls.hpp"

namespace hplcast::study {

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

/// What one rank of xhpl-instrumented wrote (docs/formats/activity.md).
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
