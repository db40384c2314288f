#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit {

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
  std::size_t sample_size = KernelTable::default_sample_size;
};

/// Reads row by row and adds to `tables`. Rows that do not count (row_rules.hpp) are set aside and counted.
/// @throws core::ParseError as core::read_kernel_csv does, DomainError for a column given twice.
void add_kernel_csv(std::istream& in, const std::string& name, const KernelCsvOptions& options, GroupedTables& tables);

}  // namespace hplcast::fit
