#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/core/activity_trace.hpp"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/simulation.hpp"
#include "hplcast/smpi_models/hplcast_smpi.h"
#include "smpi-models/messages/matching.hpp"

namespace hplcast::smpi_models {

using core::mpi_names;
using core::phase_names;
using core::TimeSpan;
using core::TracedMessage;
using core::TraceFile;
static_assert(phase_names.size() == HPLCAST_PHASE_COUNT && mpi_names.size() == HPLCAST_MPI_COUNT);

/// An MPI call as hplcast_call_begin() has it.
struct MpiCall {
  hplcast_mpi operation = HPLCAST_MPI_SEND;
  int peer = -1;
  int tag = 0;
  double bytes = 0;
  const void* request = nullptr;
  const hplcast_channel* waits_on = nullptr;  ///< of a wait for a message that does not go through SMPI
};

/// A moment of a rank: its own time, and by how much detours had stretched what it spent until then, in s.
struct Moment {
  Moment(double now, double detours = 0) : now_s(now), detours_s(detours) {}  // NOLINT: a time is a moment
  double now_s;
  double detours_s;
};

/// How one rank spent the time of one phase. Time in none of the four parts is work that has no model, or (in fast
/// mode) exchanges that are not simulated message by message.
struct PhaseTime {
  double elapsed_s = 0;  ///< without phases inside it
  double kernels_s = 0;
  double messages_s = 0;  ///< inside MPI calls, without waiting
  double waiting_s = 0;   ///< inside MPI calls, while the other side was not there yet
  double detours_s = 0;   ///< by which they stretched the rest
};
/// Times of all ranks in a phase, or a part of a program, by rank.
struct NamedTimes {
  std::string name;
  std::vector<PhaseTime> ranks;
};
/// Times of one rank by phase.
using PhaseTimes = std::array<PhaseTime, HPLCAST_PHASE_COUNT>;

/// Follows what the ranks of a simulation do. Times are those of the ranks: the simulated clock plus what a rank has
/// pending. Without SimGrid inside, so that tests can tell it stories.
class Activity {
 public:
  /// @throws core::Error if the trace cannot be written.
  explicit Activity(core::ObservationSettings settings);

  /// Whether the result has times of phases: a trace without them would be half a picture.
  bool keeps_phases() const noexcept { return settings_.phases || !settings_.trace.empty(); }

  /// Messages do not go through SMPI: from now on every MpiCall that waits says for what.
  void use_direct_messages() noexcept { knows_waits_ = true; }
  bool knows_waits() const noexcept { return knows_waits_; }

  /// Before anything else that `rank` does.
  void add_rank(int rank, const std::string& host_name);

  /// Whether kernel(), phase_begin() and phase_end() have anything to do.
  bool measures() const noexcept { return measures_; }

  /// `detours_s` of its span, it did not work.
  void kernel(int rank, core::KernelId kernel, const core::KernelShape& shape, TimeSpan span, double detours_s = 0);
  /// `rank` waits outside of calls.
  void wait(int rank, double duration_s) {
    Rank& state = ranks_[static_cast<std::size_t>(rank)];
    if (!state.frames.empty()) state.times[state.frames.back().phase].waiting_s += duration_s;
  }
  void phase_begin(int rank, hplcast_phase phase, const Moment& now);
  void phase_end(int rank, const Moment& now);
  void call_begin(int rank, const MpiCall& call, const Moment& now);
  void call_end(int rank, const void* request, bool found, const Moment& now) {
    Rank& state = ranks_[static_cast<std::size_t>(rank)];
    state.call.inside = false;
    if (measures_ || (!knows_waits_ && (state.call.operation == HPLCAST_MPI_WAIT || request != nullptr)))
      end_call(rank, state, request, found, now);
  }

  /// `rank` comes to mark 0, 1, ... of the panels of a window.
  void begin_panel(int rank, std::size_t mark, const Moment& now);

  /// Times of every phase, in order.
  std::vector<NamedTimes> phase_times() const;
  /// Sums over the ranks of what each had spent when it came to each mark; empty if phases are not asked for.
  const std::vector<PhaseTimes>& phase_times_at_marks() const noexcept { return at_marks_; }
  /// Null: this rank is not in a trace.
  TraceFile* trace_of(int rank) const { return ranks_[static_cast<std::size_t>(rank)].traced ? trace_.get() : nullptr; }
  /// A curve in the trace, if there is one.
  void counter(const char* name, double time_s, double value);
  /// The ranks that are in an MPI call, in order.
  std::vector<core::BlockedRank> blocked() const;
  /// Ends the trace. @throws core::Error
  void finish();

 private:
  struct Frame {
    hplcast_phase phase;
    double begin_s;
  };
  /// A message that does not block its rank.
  struct Request {
    const void* id;
    bool receives;
    hplcast_channel channel;
    std::uint64_t number;
    double bytes;
  };
  struct Call {
    bool inside = false;
    hplcast_mpi operation = HPLCAST_MPI_SEND;
    hplcast_channel channel{-1, -1, 0, 0};
    double bytes = 0;
    double begin_s = 0;
    double detours_before_s = 0;
    std::uint64_t number = 0;       // of the message on its channel
    const void* request = nullptr;  // of a wait
  };
  struct HeldProbe {
    bool held = false;
    TracedMessage message;
    TimeSpan span;
  };
  /// First what is noted of each call, in one piece: a rank that goes on finds it in no cache.
  struct Rank {
    Call call;
    boost::container::small_vector<Frame, 4> frames;  // HPL nests three
    bool traced = false;
    bool gathers = false;           // kernels whose times are not known yet, until the phase ends
    std::vector<Request> requests;  // open ones: HPL has one or two at a time
    double phase_since_s = 0;       // since when time counts for the innermost phase
    double detours_since_s = 0;     // likewise
    double kernels_end_s = 0;
    PhaseTimes times{};
    HeldProbe probe;
  };
  /// When both sides of a message came, on a channel; messages are numbered from 0 as they are sent and asked for.
  struct Message {
    double sent_s = std::numeric_limits<double>::quiet_NaN();
    double wanted_s = std::numeric_limits<double>::quiet_NaN();
    int ended = 0;  // sides that are done
  };
  struct Traffic {
    std::deque<Message> messages;
    std::uint64_t first = 0;  // number of messages.front()
    std::uint64_t sent = 0;
    std::uint64_t wanted = 0;
  };

  void spend(Rank& rank, const Moment& now);
  void end_call(int rank, Rank& state, const void* request, bool found, const Moment& now);
  static std::vector<Request>::iterator find_request(Rank& rank, const void* id);
  void follow(Call& call);
  double waited_s(Rank& rank, double now_s, bool found);
  double until_sent_s(const Call& call, double now_s) const;
  double end_message(const hplcast_channel& channel, std::uint64_t number, bool receives, const Call& call,
                     double now_s);
  void trace_call(int number, Rank& rank, double waited, double now_s, bool found);
  void release_probe(int number, Rank& rank);

  core::ObservationSettings settings_;
  bool measures_;
  bool knows_waits_ = false;
  std::unique_ptr<TraceFile> trace_;
  std::unordered_map<std::string, int> hosts_;
  std::vector<Rank> ranks_;
  std::vector<PhaseTimes> at_marks_;
  std::unordered_map<hplcast_channel, Traffic> traffic_;
};

}  // namespace hplcast::smpi_models
