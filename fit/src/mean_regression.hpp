#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hplcast/fit/kernel_fit.hpp"
#include "shape_rows.hpp"

namespace hplcast::fit::detail {

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

}  // namespace hplcast::fit::detail
