#pragma once

#include <cstddef>
#include <vector>

namespace hplcast::fit {

/// Rows of a linear regression y ~ X c, column by column. All vectors are of the same length, the number of rows.
struct RegressionData {
  std::vector<std::vector<double>> columns;  ///< one vector a term
  std::vector<double> y;
  std::vector<double> weights;  ///< of the squared residuals, >= 0; empty: all 1
};

struct LeastSquaresOptions {
  bool non_negative = false;  ///< coefficients >= 0 (Lawson and Hanson 1974, NNLS, restricted to the free terms)
};

/// Solution of a linear least-squares problem. Dropped terms have coefficient, standard error and t-value 0.
struct LeastSquares {
  std::vector<double> coefficients;
  std::vector<double> standard_errors;  ///< classical: weights are proportional to 1/variance; NaN without spare rows
  std::vector<double> t_values;         ///< coefficient / standard error
  std::vector<std::vector<double>> inverse_information;  ///< (X'WX)^-1; rows and columns of dropped terms are 0
  std::vector<std::size_t> collinear;  ///< terms dropped because the terms before them already say the same
  std::vector<std::size_t> at_zero;    ///< terms held at 0 by non_negative
  std::size_t rank = 0;                ///< terms that were fitted
  std::size_t rows = 0;                ///< rows with a positive weight
  double rss = 0;                      ///< sum of weight * residual^2
  double r2 = 0;                       ///< share of the (weighted) variance around the mean that is explained
};

/// Solves by Householder QR of the columns, scaled to length 1. Terms come in order of importance: of two collinear
/// ones the first is kept. @throws DomainError for lengths that differ, values that are not finite, negative weights.
/// Fewer rows than terms is not an error: rank tells.
LeastSquares solve_least_squares(const RegressionData& data, const LeastSquaresOptions& options = {});

}  // namespace hplcast::fit
