#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/program_fit.hpp"

namespace hplcast::fit::detail {

/// Weight of each shape in the choice of a form, in the order of table.shapes(); the sum is 1.
struct ShapeWeights {
  std::vector<double> by_time;  ///< its share of the time
  std::vector<double> by_size;  ///< ranges of `product` by factors of 2 count alike, by time in each
  std::vector<double> both;     ///< the mean of the two
};

/// Programs that are run on more ranks go to the small sizes of the observed runs, where hardly any of the observed
/// time was: so half of the weight goes with the ranges of sizes.
ShapeWeights weights_of(const KernelTable& table, const core::Monomial& product);

/// Root mean square of predicted / observed - 1.
double root_mean_square_error(const KernelTable& table, const core::PiecewiseLaw& law,
                              const std::vector<double>& weights);

/// Over ranges of m, n, k by factors of 2: the scatter of the calls in one is no error of the model.
ModelError range_errors(const KernelTable& table, const core::PiecewiseLaw& law);

/// A time per `term`, another one in each piece along `split`: what steps at the size of a cache look like in the few
/// sizes that a program has (find_breakpoints() asks for many). Pieces are found by dynamic programming on the relative
/// errors of the shapes; their number by the BIC (Schwarz 1978) of the mean square error, which is not taken below that
/// which chance explains, nor below 5 %, by which the same run varies. Three calls in a piece, so that a stray one
/// makes none. Nothing: one piece does.
std::optional<KernelFitOptions> form_by_size(const KernelTable& table, const core::Monomial& term,
                                             const core::Monomial& split);

/// `fit` with a law of these pieces and further notes, and without the errors of coefficients: they were of its own.
KernelFit with_pieces(KernelFit fit, const core::Monomial& split, std::vector<core::LawPiece> pieces,
                      const core::ShapeRange& range, const std::vector<std::string>& notes);

/// `inside` where `split` is below `from`, `outside` from there on. Both have one piece, or pieces along `split`.
KernelFit joined(const KernelFit& inside, const KernelFit& outside, const core::Monomial& split, double from,
                 const core::ShapeRange& range);

/// A model of a product of matrices for more rows and columns than it was fitted on. An m x n matrix C that no cache
/// holds is read from memory and written again by each product that is added to it, whatever its k: from `begin` on it
/// takes b (m n - begin) more than `inside` says, b >= 0 in seconds per element, by weighted least squares.
///
/// `begin` is not below the largest m n of `observed`: what the run had stays as it is. If `inside` has several pieces
/// (along m n k), one more begins beyond all that was observed, with b m n.
/// @param farther  larger products, measured when the run was over
KernelFit with_wider_products(const KernelFit& inside, const KernelTable& observed, const KernelTable& farther);

/// Marks names of regions among those of routines.
inline const std::string region_prefix = "region:";

/// Adds models of stretches to the regions of `program`: for each two calls, each two functions, and all of them, where
/// they took more than `least_share` of the CPU time. Time by size, as in the mean of all stretches of that size.
void fit_stretches(const ProgramObservation& observation, double least_share, core::ProgramModel& program);

/// Adds what is doubtful in an observation, and in the models fitted to it.
void add_warnings(const ProgramObservation& seen, ProgramFit& fit);

}  // namespace hplcast::fit::detail
