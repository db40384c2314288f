#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/simulation.hpp"
#include "smpi-models/clock/rank_speed.hpp"

namespace hplcast::smpi_models {

/// Joules in steps of time from 0 on.
class PowerBins {
 public:
  /// @param bin_s  > 0
  explicit PowerBins(double bin_s) : bin_s_(bin_s) {}

  /// Watts from begin to end, 0 <= begin. An end before the begin (by rounding) takes away.
  void add(double begin_s, double end_s, double w);
  /// Nothing comes any more: of a run of `time_s`. The last bin is shorter than the others where they do not fill it.
  /// @throws core::DomainError for more than 10^7 bins.
  void end(double time_s);

  double bin_s() const { return bin_s_; }
  const std::vector<double>& joules() const { return joules_; }

 private:
  double& at(std::size_t bin);
  double bin_s_;
  std::vector<double> joules_;
};

/// When at least one core of a host is active: the union of intervals that come in any order.
class ActiveTime {
 public:
  void add(double begin_s, double end_s);
  /// Gives `sink(begin, end)` every part that is over: nothing more will be added before `until_s`.
  template <typename Sink>
  void take_until(double until_s, Sink sink) {
    while (!parts_.empty() && parts_.begin()->first < until_s) {
      const auto [begin_s, end_s] = *parts_.begin();
      parts_.erase(parts_.begin());
      if (end_s > until_s) {
        sink(begin_s, until_s);
        parts_.emplace(until_s, end_s);
        return;
      }
      sink(begin_s, end_s);
    }
  }
  std::size_t parts() const { return parts_.size(); }

 private:
  std::map<double, double> parts_;  // begin to end; they do not touch each other
};

class HostMeter;

/// States of one rank in the timed part of HPL (from begin() to end()): seconds in each core::CoreState, which add up
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
  /// @param frequency  of its CPU, if it changes
  StateMeter(HostMeter& host, const ByState& watts, CpuFrequency* frequency)
      : host_(&host), watts_(watts), frequency_(frequency) {}

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
  /// Noted work is done at `done_s`, the rank goes on at `on_s` >= done_s, and with what it has spent since the
  /// last note it is at `now_s`.
  void settle(double done_s, double on_s, double now_s);

  const ByState& seconds() const { return seconds_; }
  double total_s() const;
  ByState joules() const;
  /// Begin and end of the timed part; 0 without one.
  double time_s() const { return ended_s_ - begun_s_; }
  /// It will not tell its host of active times before this, after the origin.
  double held_from_s() const { return active_begin_s_; }
  /// Ranks that end before the last wait for it. @return until when
  double fill(double time_s) {
    pass(core::CoreState::blocked, begun_s_ + time_s);
    return begun_s_ + time_s;
  }
  /// The intervals that are held back are handed over.
  void hand_over();

  /// The one of its CPU; null: it does not change while the run goes on.
  CpuFrequency* frequency() const { return frequency_; }
  /// Time that is told next will most likely be this.
  void expect(core::CoreState state) { expected_ = state; }
  /// Counts the time in which the frequency is known, as far as it was told.
  void count_told();
  /// Joules of its core up to an instant at which the frequency is known, behind the supply, since it began first. Of
  /// what was not told yet it takes the expected state.
  double told_j(double until_s) const;

 private:
  void pass(core::CoreState state, double now_s);
  void count(core::CoreState state, double now_s, double w);
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
  // Where the frequency changes:
  struct Told {
    core::CoreState state;
    double until_s;
  };
  CpuFrequency* frequency_;
  std::deque<Told> told_;  // and not counted
  ByState more_j_{};       // than at the frequency of the models
  double counted_j_ = 0;
  core::CoreState expected_ = core::CoreState::blocked;
};

/// The power of one host over time, beyond what it draws when idle.
class HostMeter {
 public:
  /// @param bins  where its watts go; null: nowhere
  /// @param sleeps  whether it may have no active core: some state adds nothing
  HostMeter(const core::HostPower& power, PowerBins* bins, bool sleeps) : power_(power), bins_(bins), sleeps_(sleeps) {}

  const core::HostPower& power() const { return power_; }
  void add_rank(StateMeter& meter) { ranks_.push_back(&meter); }
  bool sleeps() const { return sleeps_; }
  const std::vector<StateMeter*>& ranks() const { return ranks_; }
  /// Where frequencies change: its next CPU, which must outlive this.
  void add_cpu(CpuFrequency& cpu) { cpus_.push_back(&cpu); }
  const std::vector<CpuFrequency*>& cpus() const { return cpus_; }
  /// Forgets all that was told. Times are counted from `origin_s` on.
  void begin(double origin_s);
  /// Adds watts of one core; times after the origin, watts behind the supply.
  void add_watts(double begin_s, double end_s, double w) {
    if (bins_ != nullptr) bins_->add(begin_s, end_s, power_.at_wall_w(w));
  }
  void add_active(double begin_s, double end_s);
  /// How long it was awake, and joules behind the supply.
  struct Whole {
    double awake_s = 0, awake_j = 0, idle_j = 0;
  };
  /// Adds what all of the host draws, whatever its cores do.
  Whole end(double time_s);

 private:
  void add_awake(double begin_s, double end_s);
  double add_changes(double begin_s, double end_s, double CpuFrequency::Level::*share, double w);

  core::HostPower power_;
  PowerBins* bins_;
  bool sleeps_;
  std::vector<StateMeter*> ranks_;
  std::vector<CpuFrequency*> cpus_;  // none: frequencies do not change
  ActiveTime active_;
  double awake_s_ = 0, origin_s_ = 0;
  double more_awake_j_ = 0;  // than at the frequency of the models
};

/// Hosts whose power a controller keeps at a limit (core::PowerController), as docs/models/energy.md says.
class ControlledGroup {
 public:
  /// `controller` must outlive this. @param steps_hz  descending, from the highest that any of its CPUs has in the run
  ControlledGroup(const core::PowerController& controller, std::vector<double> steps_hz)
      : controller_(controller), steps_hz_(std::move(steps_hz)) {}
  void add(HostMeter& host) { hosts_.push_back({&host, {}}); }

  /// When it looks next.
  double next_s() const { return static_cast<double>(looks_ + 1) * controller_.period_s; }
  /// Looks as often as it does until then.
  void look_until(double time_s);
  /// The highest frequency that it allows.
  core::FrequencyUntil limit(double time_s) const;

 private:
  double read_j(double now_s);
  double busy_w(std::size_t step, double time_s) const;
  const core::PowerController& controller_;
  std::vector<double> steps_hz_;
  std::size_t step_ = 0;
  long looks_ = 0;
  struct Limit {
    double from_s, hz;
  };
  std::vector<Limit> limits_{{0, std::numeric_limits<double>::infinity()}};
  struct Member {
    HostMeter* host;
    std::vector<double> read_j;  // of its ranks, at the last look
  };
  std::vector<Member> hosts_;
};

/// Seconds and joules by state, summed over the ranks.
struct StateSums {
  ByState seconds{}, joules{};
};

/// Meters of all ranks and hosts.
class EnergyAccount {
 public:
  /// @throws core::DomainError for a cluster without power. `cluster` must outlive this.
  EnergyAccount(const core::ClusterModel& cluster, const core::EnergySettings& settings);

  /// The meter of a new rank on a CPU; stays where it is.
  StateMeter& add_rank(int host, int cpu);
  /// The timed part begins for a rank. No rank begins another one before all have ended this.
  void begin(StateMeter& meter, double now_s);
  /// Adds to the sums of all ranks what one has done until it comes to mark 0, 1 ... of the panels of a window.
  void begin_panel(std::size_t mark, const StateMeter& meter);
  const std::vector<StateSums>& at_marks() const { return at_marks_; }
  /// When all is over, once: the energy of the timed part of a run, at the wall (docs/models/energy.md). Only hosts
  /// with ranks count. The time of the trace is that of the rank that took longest, its bins begin at begun_s().
  core::SimulatedEnergy end();
  /// When the first rank did, on the simulated clock.
  double begun_s() const { return origin_s_; }
  const std::deque<StateMeter>& meters() const { return meters_; }

 private:
  HostMeter& host_meter(int host);
  void find_changes(const core::FrequencyModel& frequency);
  void add_changes(int host, HostMeter& meter);
  void end_bins(core::PowerTrace& trace, double network_w);
  const core::ClusterModel& cluster_;
  core::EnergySettings settings_;
  PowerBins all_;
  std::map<int, PowerBins> bins_;  // by host
  std::map<int, HostMeter> hosts_;
  // Where frequencies change while the run goes on:
  std::vector<std::vector<const core::FrequencySchedule*>> schedules_;  // by host
  std::vector<ControlledGroup*> group_of_;                              // by host
  std::deque<ControlledGroup> groups_;
  std::deque<CpuFrequency> frequencies_;
  std::deque<StateMeter> meters_;
  std::size_t begun_ = 0;  // times that a rank has begun
  double origin_s_ = 0;    // when the first did
  std::vector<StateSums> at_marks_;
};

}  // namespace hplcast::smpi_models
