#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit::detail {

/// The measurements of one piece: shapes, and the sampled calls of these shapes.
struct ShapeRows {
  std::vector<ShapeSummary> shapes;
  std::vector<SampledCall> sample;  ///< SampledCall::shape indexes `shapes`

  std::size_t size() const noexcept { return shapes.size(); }
  long calls() const noexcept;
};

/// Everything in the table.
ShapeRows all_rows(const KernelTable& table);

/// The rows with from <= split(shape) < to.
ShapeRows rows_between(const ShapeRows& rows, const core::Monomial& split, double from, double to);

/// The values of one monomial on all shapes.
std::vector<double> column_of(const ShapeRows& rows, const core::Monomial& term);

/// Smallest value of the polynomial over the box. Exact for exponents of at most 1 (the extremes of a function that is
/// affine in each of its arguments lie in corners); for higher ones over a grid of 9 x 9 x 9 points.
double smallest_in_range(const core::Polynomial& polynomial, const core::ShapeRange& range);

/// "7.140e-11"
std::string short_number(double value);

}  // namespace hplcast::fit::detail
