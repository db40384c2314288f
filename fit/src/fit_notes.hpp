#pragma once

#include <string>
#include <vector>

#include "hplcast/fit/kernel_table.hpp"
#include "shape_rows.hpp"

namespace hplcast::fit::detail {

/// Gaps of the measurements, and rows set aside: sizes that never vary, narrow ranges, few shapes.
std::vector<std::string> data_notes(const KernelTable& table, const std::vector<core::Monomial>& terms);

/// Contradictions between single calls and the fitted law: a slow start, outliers. Nothing is removed for it.
std::vector<std::string> call_notes(const KernelTable& table, const core::PiecewiseLaw& law);

/// A shape that alone decides a coefficient (leverage above 0.95): the others are all on one side of the range.
std::vector<std::string> leverage_notes(const ShapeRows& shapes, const std::vector<double>& leverage,
                                        std::size_t fitted_terms);

}  // namespace hplcast::fit::detail
