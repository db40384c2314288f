#pragma once

#include <cstddef>
#include <string>

namespace hplcast::cli {

/// The part of a list that is to be done: [first, end).
struct RowRange {
  std::size_t first = 0, end = 0;
};

/// Reads the value of --rows, "FIRST:END"; empty: all. @throws core::UsageError for other texts, core::Error
/// (bad_input) for rows that are not there.
RowRange parse_rows(const std::string& text, std::size_t rows_of_design);

/// Leaves only the rows asked for. Returns the first of them.
template <typename Rows>
std::size_t cut(Rows& rows, const std::string& text) {
  const RowRange range = parse_rows(text, rows.size());
  rows = Rows(rows.begin() + static_cast<std::ptrdiff_t>(range.first),
              rows.begin() + static_cast<std::ptrdiff_t>(range.end));
  return range.first;
}

}  // namespace hplcast::cli
