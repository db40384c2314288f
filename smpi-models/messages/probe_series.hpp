#pragma once

#include <cstddef>
#include <vector>

#include "smpi-models/clock/rank_speed.hpp"

namespace hplcast::smpi_models {

/// Computes when each probe of a series ends, without simulating it.
/// A probe costs c = `probe_s`, or grows; a rank may work between its probes; detours stretch both: the rules are in
/// docs/internals/smpi-runtime.md#polling.
/// All times are in s of simulated time and must not decrease from call to call.
class ProbeSeries {
 public:
  class Prober;

  ProbeSeries(double probe_s, bool grow) : probe_s_(probe_s), grow_(grow) {}

  /// Cost of a probe that begins now.
  double cost_s(double now_s);
  /// A single probe has ended.
  void ended(double now_s, bool found);

  /// From now on the rank probes again and again, the first time until `first_end_s`; all of these fail until stop().
  /// @param detours  of the rank, which stretch its probes and its work; null: none
  void begin(Prober& prober, double first_end_s, RankDetours* detours = nullptr) {
    begin_work(prober, first_end_s, {}, detours);
  }
  /// From now on it works on pieces that take `pieces_s` each, probes after each, and goes on with only probes.
  /// Only where probes grow and cost something. @param pieces_s one or more.
  void begin_work(Prober& prober, double now_s, std::vector<double> pieces_s, RankDetours* detours = nullptr);

  /// Where a rank is when there is something to find for it.
  struct Stop {
    double end_s = 0;        ///< when the piece of work ends, or the probe, that it is in; not in the past
    bool probes = true;      ///< it is in a probe, which will find it
    double work_s = 0;       ///< what the pieces of work took that are done then, without detours
    std::size_t failed = 0;  ///< of the probes that follow these, one each
    double detours_s = 0;    ///< by which detours stretch what is left of the probe; where probes do not grow
  };
  /// There is something to find for it from now on. The caller says when a probe has found it, by ended().
  Stop stop(Prober& prober, double now_s);

  /// Present activity of one rank. Must stay where it is.
  class Prober {
   public:
    /// At the same time the lower number comes first.
    explicit Prober(std::size_t number) : number_(number) {}

   private:
    friend class ProbeSeries;
    void begin_piece();
    void spend(Work what, double duration_s) {
      end_s_ = detours_ == nullptr ? end_s_ + duration_s : detours_->after(what, end_s_, duration_s);
    }
    std::size_t number_;
    double end_s_ = 0;  // of what it is doing
    bool active_ = false;
    bool works_ = false;      // or probes
    std::size_t pieces_ = 0;  // begun
    double work_s_ = 0;       // of these
    std::size_t failed_ = 0;  // as Stop
    std::vector<double> pieces_s_;
    RankDetours* detours_ = nullptr;
  };

 private:
  struct End {
    double end_s;
    Prober* prober;
  };
  static bool later(const End& a, const End& b) {
    return a.end_s > b.end_s || (a.end_s == b.end_s && a.prober->number_ > b.prober->number_);
  }
  void go_on(Prober& prober);
  void replace_first(const End& end);
  void fail_until(double now_s);

  double probe_s_;
  bool grow_;
  double factor_ = 1;
  double visited_s_ = 0;   // the last end that was worked off: they never fall, or the simulation ends as a bug of ours
  std::vector<End> ends_;  // where probes grow: a heap, the next to end first; of those that stopped, too
};

}  // namespace hplcast::smpi_models
