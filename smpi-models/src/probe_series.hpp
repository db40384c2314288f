#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hplcast::smpi_models {

/// How long probes take, and when those end that a rank makes one after the other, without simulating each.
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
  /// There is something to find for `id` from now on: when the probe that finds it ends, >= now_s. The caller says so
  /// then, by ended().
  double stop(std::size_t id, double now_s);

 private:
  struct Running {
    double end_s = 0;  // of the probe that it is in
    bool probing = false;
  };
  struct End {
    double end_s;
    std::size_t id;
  };
  static bool later(const End& a, const End& b) { return a.end_s > b.end_s || (a.end_s == b.end_s && a.id > b.id); }
  void fail_until(double now_s);

  double probe_s_;
  bool grow_;
  double factor_ = 1;
  std::vector<Running> running_;  // by id
  std::vector<End> ends_;         // where probes grow: a heap, the next to end first; of those that stopped, too
};

}  // namespace hplcast::smpi_models
