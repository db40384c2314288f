#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "hplcast/calibration/dgemm_design.hpp"
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

/// Pairs of runs that differ in the leading dimension alone, for what kernels take on columns a multiple of 4, 8 and 16
/// KiB apart (core::columns_apart_bytes()): of every grid of `runs` with the most ranks, the parameters of the smallest
/// run there and an N that is small; each run of such columns is followed by one of others.
std::vector<core::HplParameters> make_aliased_design(const std::vector<core::HplParameters>& runs);

/// CSV with the columns N, NB, P, Q, and all others where a run has them, as hplcast-measure-kernels reads it.
void write_design(std::ostream& out, const std::vector<core::HplParameters>& design);

/// A rough time in s of all runs on cores of that speed, with two seconds each to start.
double estimated_s(const std::vector<core::HplParameters>& design, double rate_flop_per_s);

/// The updates of the trailing matrix (m, n local sizes, k = NB or the rest in the last panel) that a run makes
/// on the first, the middle and the last process of a column and of a row; the others are within a block of these.
/// Sorted, every shape once. @throws DomainError for sizes that are no HPL run.
std::vector<DgemmShape> hpl_update_shapes(const core::HplParameters& grid);

/// Sizes in bytes of the messages of the run, sorted, every size once: exchange of pivot rows (n+4 and 2n+4 doubles for
/// the panel widths n), panel broadcasts (whole, and in Q pieces as the `long` algorithms send them), row swaps (U
/// whole, halved again and again by the binary exchange, and in P pieces), and the back substitution (NB). Empty for
/// one process.
/// @throws DomainError as above.
std::vector<long> hpl_message_bytes(const core::HplParameters& grid);

}  // namespace hplcast::calibration
