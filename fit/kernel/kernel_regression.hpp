#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"

namespace hplcast::fit::detail {

/// The measurements of one piece: shapes, and the sampled calls of these shapes.
struct ShapeRows {
  std::vector<ShapeSummary> shapes;
  std::vector<SampledCall> sample;  ///< SampledCall::shape indexes `shapes`

  std::size_t size() const noexcept { return shapes.size(); }
};

/// The rows with from <= split(shape) < to.
ShapeRows rows_between(const ShapeRows& rows, const core::Monomial& split, double from, double to);

/// The values of one monomial on all shapes.
std::vector<double> column_of(const ShapeRows& rows, const core::Monomial& term);

/// Smallest value of the polynomial over the box. Exact for exponents of at most 1 (the extremes of a function that is
/// affine in each of its arguments lie in corners); for higher ones over a grid of 9 x 9 x 9 points.
double smallest_in_range(const core::Polynomial& polynomial, const core::ShapeRange& range);

/// "7.140e-11"
std::string short_number(double value);

/// A linear regression on the monomials of the shape.
struct PolynomialRegression {
  std::vector<core::Monomial> terms;
  double fixed_constant = 0;  ///< subtracted from y first, added to the polynomial afterwards
  Weighting weighting = Weighting::ordinary;
  bool non_negative = false;
  bool robust = false;                 ///< HC3 standard errors
  double min_abs_t = 0;                ///< terms below are removed, one at a time; 0: none
  std::optional<core::Monomial> main;  ///< stays, significant or not
};

/// Data of the regression: one row per shape.
struct RegressionRows {
  std::vector<double> y;
  std::vector<double> counts;   ///< how often the row counts, > 0
  std::vector<double> squares;  ///< sum of squares around y of the calls behind the row; empty: one call per row
  std::vector<double> weights;  ///< on top of `weighting`; empty: 1
};

struct RegressionResult {
  PolynomialFit fit;
  std::vector<double> fitted;                            ///< per row
  std::vector<double> leverage;                          ///< per row, in [0, 1)
  std::vector<double> weights;                           ///< per row, counts included
  std::vector<std::vector<double>> inverse_information;  ///< (X'WX)^-1 of the terms that were fitted
  std::vector<std::string> notes;
  std::size_t fitted_terms = 0;
};

/// Fits, removes insignificant terms, says in notes what was left out and why. `name` is "mu" or "sigma".
RegressionResult fit_polynomial(const ShapeRows& shapes, const RegressionRows& rows, const PolynomialRegression& what,
                                const std::string& name);

/// Gives the coefficients the covariance that follows from the variances of the rows:
/// (X'WX)^-1 X'W diag(variances) WX (X'WX)^-1. Does nothing without spare rows.
void set_covariance(RegressionResult& result, const ShapeRows& shapes, const std::vector<double>& variances);

/// The constant of the published method, see Intercept::published.
double published_constant(const ShapeRows& shapes, const std::vector<double>& y);

/// The noise around a mean that is already fitted.
struct NoiseResult {
  core::DurationLaw law;
  PolynomialFit sigma;
  /// Variance of the mean duration of each shape: the noise of its calls, and how far the formula itself may be off
  /// there. Empty for N0, N1 and where there is no noise.
  std::vector<double> shape_variances;
  std::vector<std::string> notes;
};

/// Fits the noise asked for and puts the law together.
NoiseResult fit_noise(const ShapeRows& rows, const RegressionResult& mean, const KernelFitOptions& options,
                      const core::ShapeRange& range);

/// Where to cut the shapes along `split` so that polynomials of `terms` on the pieces have the least BIC together: the
/// best of all ways to cut between 64 equal blocks of shapes (dynamic programming), up to `max_pieces` pieces.
/// Ascending; empty if one piece is best.
std::vector<double> find_breakpoints(const ShapeRows& rows, const core::Monomial& split,
                                     const std::vector<core::Monomial>& terms, Weighting weighting, int max_pieces);

/// Sets of products of a kernel that has these sizes, the simplest first; the first of a set is the product of all of
/// them, those behind it are its faces, or edges.
std::vector<std::vector<core::Monomial>> terms_of_sizes(bool m, bool n, bool k);

/// A formula of these products that can be extrapolated: none is left out (the constant is the cost of a call: it is
/// there even where interrupts hide it), and non_negative. The family of noise is the one that fits best.
KernelFitOptions form_of(std::vector<core::Monomial> terms);

/// Such a formula of each set, then each of them in up to three pieces along its first product (M'), since caches make
/// small calls cheaper or dearer by more than a constant. A first product without sizes stands for a constant alone.
std::vector<KernelFitOptions> forms_with(const std::vector<std::vector<core::Monomial>>& sets);

/// Gaps of the measurements, and rows set aside: sizes that never vary, narrow ranges, few shapes.
std::vector<std::string> data_notes(const KernelTable& table, const std::vector<core::Monomial>& terms);

/// Contradictions between single calls and the fitted law: a slow start, outliers. Nothing is removed for it.
std::vector<std::string> call_notes(const KernelTable& table, const core::PiecewiseLaw& law);

/// A shape that alone decides a coefficient (leverage above 0.95): the others are all on one side of the range.
std::vector<std::string> leverage_notes(const ShapeRows& shapes, const std::vector<double>& leverage,
                                        std::size_t fitted_terms);

}  // namespace hplcast::fit::detail
