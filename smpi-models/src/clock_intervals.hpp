#pragma once

#include <cstdint>
#include <vector>

namespace hplcast::smpi_models {

/// Finds code that a program times and that takes no simulated time: a rank reads a clock, computes for a while on this
/// machine, and reads the clock again, and hardly any time has passed. What it prints of that is meaningless.
class ClockIntervals {
 public:
  /// `rank` comes to a function of MPI (not to a clock): no rank's interval goes on, because others run meanwhile.
  void other_function() { ++functions_; }

  /// `rank` has read a clock, at its own time `now_s`; `cpu_s`: CPU time of this thread.
  void leaves_clock(std::uint32_t rank, double now_s, double cpu_s) {
    if (rank >= reads_.size()) reads_.resize(rank + 1);
    reads_[rank] = {now_s, cpu_s, ++functions_};
  }

  /// `rank` comes to a clock. @return CPU time since its last read, if there was one, no other function of MPI
  /// meanwhile, and less than 1 % of it has passed as simulated time; else 0. Short ones, below 2 us, count as 0: some
  /// code is between any two reads.
  double comes_to_clock(std::uint32_t rank, double now_s, double cpu_s) {
    constexpr double shortest_s = 2e-6, least_share = 0.01;
    const bool goes_on = rank < reads_.size() && reads_[rank].functions == functions_;
    ++functions_;
    if (!goes_on) return 0;
    const double spent_s = cpu_s - reads_[rank].cpu_s;
    const bool takes_time = now_s - reads_[rank].now_s > least_share * spent_s;
    return takes_time || spent_s < shortest_s ? 0 : spent_s;
  }

 private:
  struct Read {
    double now_s = 0, cpu_s = 0;
    std::uint64_t functions = 0;  ///< number of calls of all ranks when it was left; 0: none
  };
  std::vector<Read> reads_;  ///< by rank
  std::uint64_t functions_ = 0;
};

}  // namespace hplcast::smpi_models
