#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::calibration {

/// Which runs of HPL show its kernels at work.
struct KernelDesignOptions {
  long max_size = 5000;  ///< largest N
  int nb = 128;
  int ranks = 1;  ///< on all hosts
  int sizes = 2;  ///< values of N, at equal distances up to max_size
  std::uint64_t seed = 1;
};

/// Every grid whose kernels differ (one process, one row, one column, and the most square grid of all ranks) with every
/// N, in random order. @throws core::DomainError for numbers below 1.
std::vector<core::HplParameters> make_kernel_design(const KernelDesignOptions& options);

/// CSV with the columns N, NB, P, Q, as hplcast-measure-kernels reads it.
void write_design(std::ostream& out, const std::vector<core::HplParameters>& design);

/// A rough time in s of all runs on cores of that speed, with two seconds each to start.
double estimated_s(const std::vector<core::HplParameters>& design, double rate_flop_per_s);

}  // namespace hplcast::calibration
