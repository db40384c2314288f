#pragma once

#include "hplcast/fit/kernel_fit.hpp"

namespace hplcast::fit::detail {

/// A model of a product of matrices for more rows and columns than it was fitted on. An m x n matrix C that no cache
/// holds is read from memory and written again by each product that is added to it, whatever its k:
///
///     time above that of `inside`
///       |                      .
///       |                 . '
///       |            . '            b (m n - begin), b >= 0 in seconds per element, by weighted least squares
///       +----------+--------------> m n
///                begin
///
/// `begin` is not below the largest m n of `observed`: what the run had stays as it is. If `inside` has several pieces
/// (along m n k), one more begins beyond all that was observed, with b m n.
/// @param farther  larger products, measured when the run was over
KernelFit with_wider_products(const KernelFit& inside, const KernelTable& observed, const KernelTable& farther);

}  // namespace hplcast::fit::detail
