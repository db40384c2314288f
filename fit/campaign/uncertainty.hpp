#pragma once

#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::fit {

/// Calls that a machine made in one state: of one file and host, in one run of HPL, in one piece of time.
using CallBlock = std::tuple<std::string, std::string, long, long>;

/// Measured and expected durations by block. The error of their ratio is what differs between blocks: single calls of a
/// block share the state of the machine, and say little that their neighbours do not.
class BlockRatio {
 public:
  void add(const CallBlock& block, double measured, double expected);
  /// Standard deviation of sum(measured) / sum(expected), relative, over resampled blocks (`uncertainty_refits` times);
  /// nu = 0 if there are fewer than two blocks.
  core::EstimatedSd sd() const;

 private:
  struct Sums {
    double measured = 0, expected = 0;
  };
  std::map<CallBlock, Sums> blocks_;
};

/// Campaigns that are drawn from the blocks of one.
inline constexpr int uncertainty_refits = 16;
/// A block lasts at least so long: the speed of a machine changes within seconds to minutes.
inline constexpr double least_block_s = 2;
/// Number of the block of that length in which a call began.
inline long piece_of(double start_s) {
  return std::lround(std::floor(start_s / least_block_s));
}

/// How well dgemm is known from the calls of a design: its mean and its scatter over HPL's shapes, from fits of
/// resampled blocks of calls. Groups that cannot be told are left out.
core::Uncertainty dgemm_uncertainty(const std::vector<core::KernelMeasurement>& calls);

}  // namespace hplcast::fit
