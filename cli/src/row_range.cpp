#include "row_range.hpp"

#include <CLI/CLI.hpp>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

RowRange parse_rows(const std::string& text, std::size_t rows_of_design) {
  if (text.empty()) return {0, rows_of_design};
  RowRange rows;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !CLI::detail::lexical_cast(text.substr(0, colon), rows.first) ||
      !CLI::detail::lexical_cast(text.substr(colon + 1), rows.end) || rows.first >= rows.end) {
    throw core::UsageError("--rows is `" + text + "`; expected FIRST:END with FIRST < END, such as 0:100");
  }
  if (rows.end > rows_of_design) {
    throw core::Error(core::ExitCode::bad_input,
                      "--rows is " + text + "; the design has " + std::to_string(rows_of_design) + " rows");
  }
  return rows;
}

}  // namespace hplcast::cli
