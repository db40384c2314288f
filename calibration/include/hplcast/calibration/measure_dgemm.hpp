#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <vector>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/world.hpp"
#include "hplcast/core/measurement.hpp"

namespace hplcast::calibration {

/// How dgemm is measured.
struct DgemmMeasureOptions {
  int threads = 1;                               ///< of the BLAS, in each rank
  double warm_up_s = 1;                          ///< calls that are not recorded, before the first one that is
  double budget_s = 0;                           ///< stop after this long, whatever is left; 0: no limit
  double footprint_bytes = 256.0 * 1024 * 1024;  ///< smallest size of the local matrix of a rank
  double epoch_s = 0;      ///< start_s counts from here, on the clock of now_s(); 0: from the first recorded call
  std::uint64_t seed = 1;  ///< of the contents
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
/// without recording, until all are: every recorded call has all cores busy. Collective; returns the rows of this rank.
/// @throws core::Error (bad_input) if the matrices do not fit the memory that is available to this rank.
std::vector<DgemmRow> measure_dgemm(const World& world, const CorePlace& place, const DgemmDesign& design,
                                    const DgemmMeasureOptions& options);

/// The file of a measurement: the columns rank and order before those of core::kernel_csv_header.
void write_dgemm_header(std::ostream& out);
void write_dgemm_rows(std::ostream& out, int rank, const std::vector<DgemmRow>& rows);

}  // namespace hplcast::calibration
