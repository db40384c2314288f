#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hplcast::smpi_models {

/// How long probes take, and when those end that a rank makes one after the other, or between pieces of work, without
/// simulating each.
///
/// A probe costs `probe_s`. Where probes grow (smpi/grow-injected-times, as SimGrid's SMPI does it), it costs that
/// times one more than the number of probes, of all ranks, that have failed since one last found something. All times
/// are in s of simulated time and must not decrease from call to call; ids are small numbers.
class ProbeSeries {
 public:
  ProbeSeries(double probe_s, bool grow) : probe_s_(probe_s), grow_(grow) {}

  /// What a probe that begins now costs.
  double cost_s(double now_s);
  /// A single probe has ended.
  void ended(double now_s, bool found);

  /// From now on `id` probes again and again, the first time until `first_end_s`; all of these fail until stop().
  void begin(std::size_t id, double first_end_s);
  /// From now on `id` works on pieces that take `pieces_s` each, probes after each, and goes on with only probes.
  /// Only where probes grow and cost something. @param pieces_s one or more.
  void begin_work(std::size_t id, double now_s, std::vector<double> pieces_s);

  /// Where a rank is when there is something to find for it.
  struct Stop {
    double end_s = 0;        ///< when the piece of work ends, or the probe, that it is in; not in the past
    bool probes = true;      ///< it is in a probe, which will find it
    double work_s = 0;       ///< what the pieces of work took that are done then
    std::size_t failed = 0;  ///< of the probes that follow these, one each
  };
  /// There is something to find for `id` from now on. The caller says when a probe has found it, by ended().
  Stop stop(std::size_t id, double now_s);

 private:
  struct Running {
    double end_s = 0;  // of what it is doing
    bool active = false;
    bool works = false;      // or probes
    std::size_t pieces = 0;  // begun
    double work_s = 0;       // of these
    std::size_t failed = 0;  // as Stop
    std::vector<double> pieces_s;
  };
  struct End {
    double end_s;
    std::size_t id;
  };
  static bool later(const End& a, const End& b) { return a.end_s > b.end_s || (a.end_s == b.end_s && a.id > b.id); }
  void add(std::size_t id, Running running);
  static void begin_piece(Running& running);
  void go_on(Running& running);
  void replace_first(const End& end);
  void fail_until(double now_s);

  double probe_s_;
  bool grow_;
  double factor_ = 1;
  std::vector<Running> running_;  // by id
  std::vector<End> ends_;         // where probes grow: a heap, the next to end first; of those that stopped, too
};

}  // namespace hplcast::smpi_models
