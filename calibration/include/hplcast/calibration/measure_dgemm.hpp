#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <vector>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// Sizes of the matrices that a design needs, in doubles, laid out as HPL lays them out (column-major).
struct ArenaSizes {
  std::size_t leading_dimension = 1;  ///< rows of the local matrix
  std::size_t columns = 1;            ///< of the local matrix
  std::size_t panel = 1;              ///< one broadcast panel L2
  std::size_t row_block = 1;          ///< one U
  std::size_t l1_leading_dimension = 1;
  std::size_t l1 = 1;
  double bytes() const noexcept;
};

/// The local matrix holds the largest call, has a leading dimension that is no multiple of 4 KiB (as HPL avoids powers
/// of two: cache sets would clash), and is at least `footprint_bytes` large so that successive calls find C cold.
ArenaSizes arena_sizes(const DgemmDesign& design, double footprint_bytes);

/// Operands of one dgemm: C(m x n) += alpha A(m x k) op(B), op(B) k x n.
struct DgemmOperands {
  const double* a = nullptr;
  const double* b = nullptr;
  double* c = nullptr;
  int lda = 1, ldb = 1, ldc = 1;
  bool transposed = false;  ///< op(B) is the transpose of what is stored
};

/// HPL calls dgemm with alpha = -1. With this alpha the kernels do the same work, but C does not change by a single bit
/// (unless an element is below 2^-60), so the contents stay what the design says, call after call.
inline constexpr double harmless_alpha = -0x1.0p-120;

/// Calls it with that alpha.
void call_dgemm(const DgemmShape& shape, const DgemmOperands& at);

/// The matrices of one content, and the places in them of successive calls:
///  - role update: A is one of two panels (leading dimension m, as HPL's L2); C lies in the local matrix; B is U,
///    stored transposed with leading dimension n, or (not transposed) lies in the local matrix right above C;
///  - role panel: A and C lie side by side in the local matrix, B in the small L1, transposed.
/// Places move through the buffers from call to call, so that they are as cold in the caches as in HPL.
class DgemmArena {
 public:
  /// @throws std::bad_alloc
  DgemmArena(const ArenaSizes& sizes, const Content& content, std::uint64_t seed);

  /// Where the next call has its matrices. The call must be one of the design that gave the sizes.
  DgemmOperands next(const DgemmCall& call);

 private:
  /// First element of a block of the local matrix; blocks follow each other over its columns.
  double* block(long rows, long columns, std::size_t leading_dimension);

  ArenaSizes sizes_;
  std::vector<double> matrix_, panels_, row_blocks_, l1_;
  std::size_t next_column_ = 0;
  std::size_t calls_ = 0;
};

/// The same call again and again, on an arena of random numbers of its own; of the threads of bind_rank().
std::function<void()> repeated_dgemm(const DgemmCall& call, double footprint_bytes, std::uint64_t seed);

/// How dgemm is measured.
struct DgemmMeasureOptions {
  double warm_up_s = 1;                          ///< calls that are not recorded, before the first one that is
  double budget_s = 0;                           ///< stop after this long, whatever is left; 0: no limit
  double footprint_bytes = 256.0 * 1024 * 1024;  ///< smallest size of the local matrix of a rank
  double epoch_s = 0;      ///< start_s counts from here, on the clock of now_s(); 0: from the first recorded call
  std::uint64_t seed = 1;  ///< of the contents
  /// One rank of each host makes each call twice: of a kernel that is called "dgemm_alone" while the others of the host
  /// sleep, and of "dgemm_beside" while they compute.
  bool alone = false;
  bool check = false;  ///< make no call: only look whether each fits the memory
  /// Called now and then with the share of the design that is done, 0 to 1; may be empty.
  std::function<void(double)> progress;
};

/// A measured row of a design.
struct DgemmRow {
  std::size_t order = 0;  ///< index in the design
  core::KernelMeasurement measurement;
};

/// Measures a design on all ranks at once. Every rank makes all calls of the design in its order, but rank r of R
/// starts r/R of the way (so that not all cores work on the same shape), and a rank that is done goes on calling,
/// without recording, until all are: every recorded call has all cores busy. With `alone` see there.
/// Collective; returns the rows of this rank.
/// @throws core::InputError if the matrices do not fit the memory that is available to this rank.
std::vector<DgemmRow> measure_dgemm(const World& world, const CorePlace& place, const DgemmDesign& design,
                                    const DgemmMeasureOptions& options);

/// The control measurement on all ranks at once: some 0.2 s of a dgemm of 640x640x640 on each, and a message of 64 KiB
/// between rank 0 and the first rank of another host, or the last one. Collective; returns the row of this rank.
core::ControlRow measure_control(const World& world, const CorePlace& place, double epoch_s);

/// The file of a measurement: the columns rank and order before those of core::kernel_csv_header.
void write_dgemm_header(std::ostream& out);
void write_dgemm_rows(std::ostream& out, int rank, const std::vector<DgemmRow>& rows);

}  // namespace hplcast::calibration
