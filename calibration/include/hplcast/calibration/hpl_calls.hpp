#pragma once

#include <vector>

#include "hplcast/calibration/dgemm_design.hpp"

namespace hplcast::calibration {

/// The parameters that determine the sizes in an HPL run, under HPL's names.
struct HplGrid {
  long N = 0;
  int NB = 0;
  int P = 1;
  int Q = 1;
};

/// Rows (or columns) that process `index` of `count` has of a matrix that is dealt in blocks of `block` rows, starting
/// at process 0 (ScaLAPACK's numroc).
long local_rows(long rows, long block, int index, int count) noexcept;

/// The updates of the trailing matrix (m, n local sizes, k = NB or the rest in the last panel) that the run makes
/// on the first, the middle and the last process of a column and of a row; the others are within a block of these.
/// Sorted, every shape once. @throws DomainError for sizes that are no HPL run.
std::vector<DgemmShape> hpl_update_shapes(const HplGrid& grid);

/// Sizes in bytes of the messages of the run, sorted, every size once: exchange of pivot rows (n+4 and 2n+4 doubles for
/// the panel widths n), panel broadcasts (whole, and in Q pieces as the `long` algorithms send them), row swaps (U
/// whole, halved again and again by the binary exchange, and in P pieces), and the back substitution (NB). Empty for
/// one process.
/// @throws DomainError as above.
std::vector<long> hpl_message_bytes(const HplGrid& grid);

}  // namespace hplcast::calibration
