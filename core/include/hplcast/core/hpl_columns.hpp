#pragma once

#include "hplcast/core/csv.hpp"

namespace hplcast::core {

/// Columns of a file of configurations are parameters of HPL, or results of runs. @throws ParseError for others; in a
/// file of results (with time_s) only for columns that nearly are one of these.
void refuse_unknown_hpl_columns(const CsvReader& csv);

}  // namespace hplcast::core
