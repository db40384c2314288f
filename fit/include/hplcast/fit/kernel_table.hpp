#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/random_stream.hpp"

namespace hplcast::fit {

/// The calls of one shape, without the calls (Welford 1962: exact to rounding whatever the order of magnitude).
struct ShapeSummary {
  core::KernelShape shape;
  long count = 0;
  double mean_s = 0;
  double squares_s2 = 0;  ///< sum of (duration - mean)^2
  double min_s = 0;
  double max_s = 0;

  /// Sample variance in s^2 with divisor count - 1; 0 for one call.
  double variance_s2() const noexcept { return count > 1 ? squares_s2 / static_cast<double>(count - 1) : 0.0; }
};

/// Smallest and largest size of each parameter; {1,1,1} to {1,1,1} without shapes.
core::ShapeRange range_of(const std::vector<ShapeSummary>& shapes) noexcept;

/// One call kept as it was.
struct SampledCall {
  std::size_t shape = 0;  ///< index into KernelTable::shapes()
  double duration_s = 0;
};

/// Summary of the measurements of one kernel (of one group), for a fit. Memory grows with the number of distinct
/// shapes, not with the number of calls: of the calls themselves it keeps the first ones (warm-up) and a random sample
/// of fixed size (shape of the noise, plots), drawn by reservoir sampling (Vitter 1985, algorithm R) from a fixed seed.
class KernelTable {
 public:
  /// Calls of the random sample. 20,000 place a quantile of 0.1 percent within 0.02 percent.
  static constexpr std::size_t sample_size = 20000;
  /// Calls kept to look for a warm-up.
  static constexpr std::size_t first_calls_kept = 64;

  /// Adds a call. @throws DomainError for sizes or a duration that are not finite and positive.
  void add(const core::KernelShape& shape, double duration_s);
  /// Counts a row that is not used, and why ("the call failed").
  void set_aside(const std::string& reason, long rows = 1) { rows_set_aside_[reason] += rows; }

  /// In order of first appearance.
  const std::vector<ShapeSummary>& shapes() const noexcept { return shapes_; }
  const std::vector<SampledCall>& sample() const noexcept { return sample_; }
  const std::vector<SampledCall>& first_calls() const noexcept { return first_calls_; }
  const std::map<std::string, long>& rows_set_aside() const noexcept { return rows_set_aside_; }
  long rows() const noexcept { return rows_; }
  /// Sum of all durations in seconds.
  double total_s() const noexcept { return total_s_; }
  /// range_of() its shapes.
  core::ShapeRange range() const noexcept { return range_of(shapes_); }

 private:
  struct ShapeHash {
    std::size_t operator()(const core::KernelShape& shape) const noexcept;
  };

  std::vector<ShapeSummary> shapes_;
  std::unordered_map<core::KernelShape, std::size_t, ShapeHash> index_;
  std::vector<SampledCall> sample_;
  std::vector<SampledCall> first_calls_;
  std::map<std::string, long> rows_set_aside_;
  long rows_ = 0;
  double total_s_ = 0;
  core::RandomStream stream_{core::StreamName{1, core::stream_fit, 0, 0}};
};

/// Tables by the values of the columns that the user grouped by (`--by node,cpu`), in the order of those columns.
using GroupedTables = std::map<std::vector<std::string>, KernelTable>;

/// How a CSV of kernel measurements becomes tables.
struct KernelCsvOptions {
  /// Columns whose values make the groups, in order. A group has one text a column. `kernel` is the kernel's name (or
  /// `default_kernel`), `host` also stands for a column `node`; any other column must be in the file.
  std::vector<std::string> by;
  std::string only_kernel;               ///< rows of other kernels are passed over; empty: all rows
  std::string default_kernel = "dgemm";  ///< of files without a column `kernel`
  bool all_contents = false;             ///< also rows of matrices unlike HPL's; always so when grouped by `content`
  bool only_designed = false;            ///< HPL's own calls are passed over
  long skip_first = 0;                   ///< calls of each group and kernel that are set aside as warm-up
};

/// Reads row by row and adds to `tables`. Rows that do not count (row_rules.hpp) are set aside and counted.
/// @throws core::ParseError as core::read_kernel_csv does, DomainError for a column given twice.
void add_kernel_csv(std::istream& in, const std::string& name, const KernelCsvOptions& options, GroupedTables& tables);

}  // namespace hplcast::fit
