#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "hplcast/core/kernel_shape.hpp"
#include "smpi-models/clock/rank_speed.hpp"
#include "smpi-models/messages/message.hpp"
#include "smpi-models/messages/probe_series.hpp"
#include "smpi-models/observe/energy_meters.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

namespace hplcast::smpi_models {

/// Durations of kernels over those of their laws, by KernelId.
using Slowdowns = std::array<double, core::kernel_count>;

using port::clock_s;

/// The own time of a rank: local virtual time, as in conservative parallel discrete event simulation (Bryant 1977,
/// Chandy and Misra 1979). It may be ahead of the simulated clock, or behind it. Causality holds all the same:
///  - What a rank does is dated by its own time, which only falls while it sleeps, to not before it fell asleep.
///  - The clock follows (flush()) before what a third rank may notice, such as a message that somebody may probe for.
///    Only the two ends know of other messages: the flow carries its date, and a receive ends no earlier than the
///    message was sent, plus what it takes alone (Messages::check_receive()).
///  - A rank behind the clock tells nobody anything: flush() ends the simulation.
/// Lookahead, until when a blocked rank is known to send nothing, is read from what it waits for (Wait).
///
/// Running ahead: kernels and MPI calls take time, but others notice it only when the rank sends something that they
/// may probe for, or probes for what may still be sent. So they move the own time only, and flush() lets the clock
/// follow in one step before such a call. Other messages are begun and waited for ahead of the clock.
///
/// Catching up: a rank that probes between pieces of work sleeps until there is something to find, and does its work
/// of that time afterwards, in its own past (the drawing has probes that fail as "p", those that find it as "P"):
///
///     by polling   own time = clock:   p work p work p wo|rk P
///     simulated    clock:              p asleep..........|--->        | the message is sent
///                  own time:           p work p work p work P
/// Which call changes which state: docs/internals/smpi-runtime.md#polling; all others are a bug of ours and end it.
/// Detours (RankDetours) stretch what the rank spends. They take nothing while it waits; of one that runs when it stops
/// waiting it pays the rest (resume()). Time spent while it replays or notes is not stretched: when that is, is
/// not known yet.
class RankClock {
 public:
  explicit RankClock(std::uint32_t rank) : rank_(rank) {}

  enum class State { running, noting, asleep, catching_up, replaying };
  State state() const { return state_; }

  double now_s() const { return clock_s() + ahead_s_; }
  /// Own time after the simulated clock; negative when catching up.
  double ahead_s() const { return ahead_s_; }
  /// Whether kernels are among that, not only costs of messages.
  bool has_worked() const { return worked_; }

  /// The rank spends time of its own in a call.
  void spend(double duration_s) { add(Work::other, duration_s, between_kernels_); }
  /// The same in a kernel. Where a controller sets frequencies it blocks until they are known. @param clocked  whether
  /// the frequency does to it what it does to that kernel, not what it does to other code. @return how long it took,
  /// without detours
  double work(core::KernelId kernel, double duration_s, bool clocked = true) {
    worked_ = true;
    if (meter_ != nullptr && meter_->frequency() != nullptr) return work_at_frequencies(kernel, duration_s, clocked);
    add(Work::kernel, duration_s, core::state_of(kernel));
    return duration_s;
  }
  /// Only how much it spends matters, not when, nor on what.
  bool is_unseen() const {
    return meter_ == nullptr && !is_watched() && state_ == State::running && !detours_.any() && !pieces_;
  }
  /// After a wait for others, at the simulated clock.
  void resume();
  /// Lets the clock follow the own time. Blocks: not to be called inside guarded(), nor when catching up.
  void flush();
  /// The own time goes back to the clock; what it was ahead is for the caller to spend.
  double take_ahead_s();

  /// Whether actions that only a message's other end can notice may begin at the own time, ahead of the clock.
  bool may_run_ahead() const { return is_on_time() && !pieces_; }
  /// Before a wait for others, after which the rank goes on from its own time of now, if the clock has not passed it.
  void pause() { ahead_s_ = 0; }
  void go_on_from(double date_s);

  /// Running: until wake() of another rank. Blocks. `other`: that will have sent something before; negative: not known.
  /// @return whether it was wake_at_end(): the rank is at the end of that flow
  bool sleep(int other = -1);
  void wake() { bell_->ring(); }
  /// The same at the end of the flow; it goes on from `date_s` then, if that is later. Does not block.
  void wake_at_end(NetworkFlow& flow, double date_s);
  /// Blocks until the flow has ended.
  void wait_for(NetworkFlow& flow);

  /// The event that a blocked rank waits for: it sends nothing before.
  struct Wait {
    double date_s = 0;
    NetworkFlow* flow = nullptr;
    int other = -1;  ///< something that this rank sends
  };
  const Wait& waits_for() const { return waits_for_; }
  /// Catching up with nothing but probes of `probe_s` each: to the end of the one that ends at the clock, or after it.
  void catch_up_probing(double probe_s);
  /// After sleep(): to a date that the clock has not passed.
  void go_on_at(double date_s);
  /// After sleep(): to a time before the clock, if ahead_s < 0. `replays`: until catch_up(), whatever it spends.
  void fall_behind(double ahead_s, bool replays);
  /// The end of a replay.
  void catch_up(double ahead_s);

  /// Time that a rank spends after something whose time is not known yet.
  struct Noted {
    double elapsed_s = 0;  ///< all of it, if nothing before it is unknown: with detours
    double kernels_s = 0;  ///< otherwise
    double other_s = 0;
  };
  /// Takes what is pending, and begins to note what it spends.
  Noted take_note();
  /// The end of noting: the noted things end at `date_s`, and then comes what it has spent since.
  void go_on_noted(double date_s);
  /// When something noted that begins at `begin_s` ends. Detours up to then are over for the rank.
  double after(Work what, double begin_s, double work_s);

  void set_detours(RankDetours detours) { detours_ = std::move(detours); }
  RankDetours& detours() { return detours_; }
  /// Detours of a wait that ended with them, by which they stretched what the rank did then.
  void count_detours(double duration_s) { taken_s_ += duration_s; }
  /// By how much detours have stretched what the rank spent, in s.
  double detours_s() const { return taken_s_; }

  /// From now on kernels load the host while they run. Not for ranks that catch up or note.
  void load_host() { pieces_.emplace(); }

  /// Tells a meter what the rank does. It must outlive this.
  void set_meter(StateMeter* meter) { meter_ = meter; }
  /// Null: nobody asks.
  StateMeter* meter() const { return meter_; }
  /// All its time since it was told last was `state`.
  void tell(core::CoreState state) {
    if (meter_ != nullptr || is_watched()) tell(state, now_s());
  }
  /// The same until a date that is not after its own time.
  void tell(core::CoreState state, double date_s) {
    if (is_watched() && state == core::CoreState::blocked) *blocked_s_ += date_s - told_s_;
    told_s_ = date_s;
    if (meter_ != nullptr) meter_->until(state, date_s);
  }
  /// From now on it counts how long it is blocked, also without a meter.
  void watch() { blocked_s_ = 0; }
  bool is_watched() const { return blocked_s_.has_value(); }
  double blocked_s() const { return blocked_s_.value_or(0); }
  /// When it was told last, or has spent something.
  double told_s() const { return told_s_; }
  /// From here on, what it does between kernels.
  void is_between_kernels(core::CoreState state) {
    tell(between_kernels_);
    between_kernels_ = state;
    if (meter_ != nullptr) meter_->expect(state == core::CoreState::polling ? state : core::CoreState::blocked);
  }

 private:
  struct EndOfWait {
    RankClock& clock;
    ~EndOfWait();
  };
  void begin_wait(NetworkFlow& flow);
  void add(Work what, double duration_s, core::CoreState state) {
    if (!is_unseen() || !(duration_s >= 0)) return add_seen(what, duration_s, state);
    ahead_s_ += duration_s;  // as mostly
  }
  void add_seen(Work what, double duration_s, core::CoreState state);
  double work_at_frequencies(core::KernelId kernel, double duration_s, bool clocked);
  void spend_noted(double date_s);
  void spend_pieces();
  void enter(State from, State to);
  bool is_on_time() const { return state_ == State::running || state_ == State::noting; }

  std::uint32_t rank_;
  State state_ = State::running;
  double ahead_s_ = 0;
  double slept_at_s_ = 0, goes_on_s_ = 0;
  bool worked_ = false;
  Noted noted_;  // noting: since the last note
  RankDetours detours_;
  double taken_s_ = 0;
  struct Piece {
    Work what;
    double duration_s;
  };
  std::optional<std::vector<Piece>> pieces_;  // of what it is ahead, if kernels load the host
  StateMeter* meter_ = nullptr;
  double told_s_ = 0;
  std::optional<double> blocked_s_;  // if it is watched
  core::CoreState between_kernels_ = core::CoreState::messages;
  Wait waits_for_;
  port::BellPtr bell_ = std::make_shared<port::Bell>();
};

struct KernelCall {
  core::KernelId kernel;
  core::KernelShape shape;
};

/// Durations of calls to come of one kernel, all of one shape: drawn when the probes between them were computed.
struct DrawnCalls {
  core::KernelId kernel;
  core::KernelShape shape;
  std::uint64_t first = 0;  ///< number of the call
  std::uint64_t step = 1;   ///< from one to the next
  std::vector<double> durations_s;

  /// Null: not drawn yet.
  const double* find(core::KernelId of, const core::KernelShape& size, std::uint64_t call) const;
};

/// The polling loop that a rank has announced by hplcast_polling_loop().
struct PollingLoop {
  hplcast_loop kind = HPLCAST_LOOP_NONE;
  std::size_t pieces = 0;     ///< of work that are left in it; 0: not known
  bool probe_failed = false;  ///< the last probe in it
  bool empty_calls = false;   ///< some took time since the last announcement, as if HPL had columns left
  /// The kernels that it has called since its last probe, or since it left a polling loop, if they are few.
  std::vector<KernelCall> piece;
  static constexpr std::size_t few = 8;  ///< HPL has up to three between two probes

  void add(const KernelCall& call) {
    if (piece.size() <= few) piece.push_back(call);
  }
  bool knows_piece() const { return !piece.empty() && piece.size() <= few; }

  /// The rank enters such a loop, goes on in it, or leaves it.
  void announce(hplcast_loop loop, std::size_t pieces_left);
  bool only_probes() const { return kind == HPLCAST_LOOP_ONLY_PROBES; }
};

/// Work and probes that a rank makes again after sleeping (State::replaying).
struct Replay {
  std::size_t failed_probes = 0;  ///< after a piece of work each
  double done_s = 0;              ///< when these are over, and the work after them
  bool probes = false;            ///< then it is at the end of a probe, not at the begin of one
};

/// One rank of the simulated program: all that the runtime keeps of it, but for what the observer (Activity) and the
/// meetings of fast mode note while they go on. Ranks are found by their number, and by the actor that runs
/// (Runtime::rank()).
struct Rank {
  Rank(std::uint32_t number_in_world, simgrid::s4u::Host* its_host) : number(number_in_world), host(its_host) {}

  std::uint32_t number;  ///< in MPI_COMM_WORLD
  simgrid::s4u::Host* host;
  RankClock clock{number};
  std::array<const core::PiecewiseLaw*, core::kernel_count> laws{};  ///< of its CPU; null: the kernel costs nothing
  const Slowdowns* slowdowns = nullptr;                              ///< by its matrix; null: none
  double slowdown(core::KernelId kernel) const {
    return slowdowns == nullptr ? 1 : (*slowdowns)[static_cast<std::size_t>(kernel)];
  }
  std::array<std::uint64_t, core::kernel_count> calls{};  ///< draws taken, per kernel
  std::size_t panel_place = 0;                            ///< PanelCounts::begin_panel()
  std::uint64_t pivots = 0;                               ///< draws taken for pivots
  Mail mail;
  MPI_Comm collective_on = nullptr;  ///< in an operation on it by our messages (begin_collective())
  double let_in_s = 0;  ///< when MPI let messages in last: end of the last probe, receive, exchange or send that waited
  PollingLoop loop;
  std::vector<DrawnCalls> drawn;  ///< of the kernels of the last loop
  ProbeSeries::Prober prober{number};
  Replay replay;
};

}  // namespace hplcast::smpi_models
