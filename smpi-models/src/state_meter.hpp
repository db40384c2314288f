#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "power_bins.hpp"

namespace hplcast::smpi_models {

/// Seconds, watts or joules by core::CoreState.
using ByState = std::array<double, core::core_state_count>;

class HostMeter;

/// What one rank does in the timed part of HPL (from begin() to end()): seconds in each core::CoreState, which add up
/// to the time of that part. Times are the rank's own (RankClock).
///
/// Time is told as it passes: until() says what the rank has done since the last time. In fast mode the dates of work
/// inside a meeting are not known before its end. So from note() on seconds are gathered without dates, and settle()
/// spreads them evenly over the time that the meeting turned out to take; what is left of it are its messages.
///
///     until      until  note           note          settle: the meeting ends     until
///     |--dgemm---|dger--|  dger, dscal |  dger, ...  |~~~~~~~~~~~~~~~~~~~~~~~~~~~~|---|
///                       gathered, in no time          |- spread over all of this -|
class StateMeter {
 public:
  /// `host` must outlive this. @param watts  that the rank's core adds in each state
  StateMeter(HostMeter& host, const ByState& watts) : host_(&host), watts_(watts) {}

  /// The timed part begins: what was counted before is forgotten. Power over time is counted from `origin_s` on, which
  /// is not after that.
  void begin(double now_s, double origin_s);
  /// It ends for this rank. The time since the last until() was `state`.
  void end(core::CoreState state, double now_s);

  /// From the last of these calls to `now_s` it was in `state`.
  void until(core::CoreState state, double now_s) {
    if (runs_ && !notes_) pass(state, now_s);
  }
  /// It has spent `duration_s` in `state`, and is at `now_s`.
  void spent(core::CoreState state, double duration_s, double now_s) {
    if (!runs_) return;
    if (notes_)
      since_note_[static_cast<std::size_t>(state)] += duration_s;
    else
      pass(state, now_s);
  }

  /// Something noted begins: what was spent since the last note lies before it.
  void note();
  /// Inside the meeting, without a date.
  void add_noted(core::CoreState state, double duration_s) { noted_[static_cast<std::size_t>(state)] += duration_s; }
  /// By how much detours stretched kernels inside the meeting.
  void stretch_noted(double duration_s) { stretched_s_ += duration_s; }
  /// What was noted is done at `done_s`, the rank goes on at `on_s` >= done_s, and with what it has spent since the
  /// last note it is at `now_s`.
  void settle(double done_s, double on_s, double now_s);

  const ByState& seconds() const { return seconds_; }
  double total_s() const;
  ByState joules() const;
  /// Begin and end of the timed part; 0 without one.
  double time_s() const { return ended_s_ - begun_s_; }
  /// It will not tell its host of active times before this, after the origin.
  double held_from_s() const { return active_begin_s_; }
  /// Those who end before the last wait for it. The intervals that are held back are handed over.
  void fill(double time_s);

 private:
  void pass(core::CoreState state, double now_s);
  void spread(const ByState& amounts, double end_s);
  void active_until(double begin_s, double end_s);

  HostMeter* host_;
  ByState watts_;
  bool runs_ = false;
  bool notes_ = false;
  double origin_s_ = 0, begun_s_ = 0, ended_s_ = 0, since_s_ = 0;
  double active_begin_s_ = 0, active_end_s_ = 0;  // after the origin: an interval that may go on
  ByState seconds_{}, noted_{}, since_note_{};
  double stretched_s_ = 0;
};

/// The power of one host over time, beyond what it draws when idle.
class HostMeter {
 public:
  /// @param bins  where its watts go; null: nowhere
  /// @param sleeps  whether it may have no active core: some state adds nothing
  HostMeter(const core::HostPower& power, PowerBins* bins, bool sleeps) : power_(power), bins_(bins), sleeps_(sleeps) {}

  const core::HostPower& power() const { return power_; }
  void add_rank(const StateMeter& meter) { ranks_.push_back(&meter); }
  /// Whether it needs to know when.
  bool has_bins() const { return bins_ != nullptr; }
  bool sleeps() const { return sleeps_; }
  /// Forgets all that was told.
  void begin();
  /// Of one core; times after the origin, watts behind the supply.
  void add_watts(double begin_s, double end_s, double w) { bins_->add(begin_s, end_s, power_.at_wall_w(w)); }
  void add_active(double begin_s, double end_s);
  /// Adds what all of the host draws, whatever its cores do. @return how long it was awake
  double end(double time_s);

 private:
  void add_awake(double begin_s, double end_s);

  core::HostPower power_;
  PowerBins* bins_;
  bool sleeps_;
  std::vector<const StateMeter*> ranks_;
  ActiveTime active_;
  double awake_s_ = 0;
};

}  // namespace hplcast::smpi_models
