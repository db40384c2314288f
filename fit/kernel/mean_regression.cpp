#include "fit/kernel/kernel_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fit/stats/robust_statistics.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit::detail {

namespace {

/// The terms still in, with their columns.
struct Design {
  std::vector<core::Monomial> terms;
  std::vector<std::vector<double>> columns;

  void remove(std::size_t term) {
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(term));
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(term));
  }
};

struct Solved {
  LeastSquares solution;
  std::vector<double> fitted;
  std::vector<double> weights;  // of the rows, counts included
  bool converged = true;
};

std::vector<double> fitted_values(const Design& design, const std::vector<double>& coefficients, std::size_t rows) {
  std::vector<double> fitted(rows, 0.0);
  for (std::size_t term = 0; term < design.columns.size(); ++term)
    for (std::size_t row = 0; row < rows; ++row) fitted[row] += coefficients[term] * design.columns[term][row];
  return fitted;
}

/// One solution for ordinary weights; else weights follow the fitted values until these stand still.
Solved solve(const Design& design, const std::vector<double>& y, const RegressionRows& rows,
             const PolynomialRegression& what) {
  constexpr int most_iterations = 200;
  constexpr double tolerance = 1e-10;
  const double power = what.weighting == Weighting::ordinary ? 0 : what.weighting == Weighting::totals ? 1 : 2;
  RegressionData data{design.columns, y, std::vector<double>(y.size())};
  const LeastSquaresOptions options{what.non_negative};
  Solved solved;
  // The measured durations stand in for the fitted ones in the first weights.
  std::vector<double> scale = rows.y;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    for (std::size_t row = 0; row < y.size(); ++row)
      data.weights[row] = rows.counts[row] * (rows.weights.empty() ? 1.0 : rows.weights[row]) /
                          (power > 0 ? std::pow(scale[row], power) : 1.0);
    solved.solution = solve_least_squares(data, options);
    solved.fitted = fitted_values(design, solved.solution.coefficients, y.size());
    if (power == 0) break;
    double change = 0;
    for (std::size_t row = 0; row < y.size(); ++row) {
      // A fitted value at or below zero has no weight: a hundredth of the measured one stands in. One far below the
      // measured one is an outlier and keeps its place, else the totals would not be met.
      const double mean = solved.fitted[row] + what.fixed_constant;
      const double next = mean > 0 ? std::max(mean, 1e-9 * rows.y[row]) : 0.01 * rows.y[row];
      change = std::max(change, std::abs(next - scale[row]) / scale[row]);
      scale[row] = next;
    }
    solved.converged = change < tolerance;
    if (solved.converged) break;
  }
  solved.weights = std::move(data.weights);
  return solved;
}

std::vector<double> leverages(const Design& design, const Solved& solved) {
  const auto& inverse = solved.solution.inverse_information;
  std::vector<double> leverage(solved.weights.size(), 0.0);
  for (std::size_t row = 0; row < leverage.size(); ++row) {
    double sum = 0;
    for (std::size_t a = 0; a < design.columns.size(); ++a)
      for (std::size_t b = 0; b < design.columns.size(); ++b)
        sum += design.columns[a][row] * inverse[a][b] * design.columns[b][row];
    // Below 1, so that a row that decides alone has a finite, large, variance.
    leverage[row] = std::min(solved.weights[row] * sum, 1 - 1e-6);
  }
  return leverage;
}

/// Sum over the rows and the calls behind them of weight * residual^2.
double weighted_squares(const std::vector<double>& y, const RegressionRows& rows, const Solved& solved) {
  double sum = 0;
  for (std::size_t row = 0; row < y.size(); ++row) {
    const double residual = y[row] - solved.fitted[row];
    const double within = rows.squares.empty() ? 0.0 : rows.squares[row] / rows.counts[row];
    sum += solved.weights[row] * (residual * residual + within);
  }
  return sum;
}

using Matrix = std::vector<std::vector<double>>;

/// inverse (sum over the rows of w^2 v x x') inverse, where inverse = (X'WX)^-1
Matrix sandwich(const Design& design, const Matrix& inverse, const std::vector<double>& weights,
                const std::vector<double>& variances) {
  const std::size_t terms = design.columns.size();
  Matrix covariance(terms, std::vector<double>(terms, 0.0));
  std::vector<double> influence(terms);
  for (std::size_t row = 0; row < weights.size(); ++row) {
    const double deviation = weights[row] * std::sqrt(variances[row]);
    for (std::size_t a = 0; a < terms; ++a) {
      influence[a] = 0;
      for (std::size_t b = 0; b < terms; ++b) influence[a] += inverse[a][b] * design.columns[b][row] * deviation;
    }
    for (std::size_t a = 0; a < terms; ++a)
      for (std::size_t b = 0; b < terms; ++b) covariance[a][b] += influence[a] * influence[b];
  }
  return covariance;
}

/// HC3: the residual of each row, as it would be without the row in the fit, stands for its variance.
Matrix robust_covariance(const Design& design, const std::vector<double>& y, const Solved& solved,
                         const std::vector<double>& leverage) {
  std::vector<double> variances(y.size());
  for (std::size_t row = 0; row < y.size(); ++row) {
    const double residual = (y[row] - solved.fitted[row]) / (1 - leverage[row]);
    variances[row] = residual * residual;
  }
  return sandwich(design, solved.solution.inverse_information, solved.weights, variances);
}

struct Uncertainty {
  Matrix covariance;
  double degrees_of_freedom = 0;
};

Uncertainty uncertainty_of(const Design& design, const std::vector<double>& y, const RegressionRows& rows,
                           const PolynomialRegression& what, const Solved& solved,
                           const std::vector<double>& leverage) {
  const double rank = static_cast<double>(solved.solution.rank);
  const double calls = rows.squares.empty() ? static_cast<double>(y.size())
                                            : std::accumulate(rows.counts.begin(), rows.counts.end(), 0.0);
  Uncertainty result;
  const double spare_calls = calls - rank;
  const double spare_rows = static_cast<double>(y.size()) - rank;
  result.degrees_of_freedom = what.robust ? spare_rows : spare_calls;
  if (!(result.degrees_of_freedom > 0)) return result;
  if (what.robust) {
    result.covariance = robust_covariance(design, y, solved, leverage);
    return result;
  }
  result.covariance = solved.solution.inverse_information;
  const double variance = weighted_squares(y, rows, solved) / spare_calls;
  for (auto& row : result.covariance)
    for (double& value : row) value *= variance;
  return result;
}

/// How a term left the model, for humans.
std::string removal_note(const std::string& name, const core::Monomial& term, const std::string& why) {
  return name + ": term " + to_string(term) + " left out, " + why;
}

/// Takes out collinear terms and those at zero. True if something was taken out.
bool drop_unfitted(Design& design, const LeastSquares& solution, const std::string& name,
                   std::vector<std::string>& notes) {
  std::vector<std::size_t> out = solution.collinear;
  for (std::size_t term : solution.collinear)
    notes.push_back(
        removal_note(name, design.terms[term], "in these measurements it is a combination of the terms before it"));
  for (std::size_t term : solution.at_zero) {
    notes.push_back(removal_note(name, design.terms[term], "its coefficient would be negative"));
    out.push_back(term);
  }
  std::sort(out.rbegin(), out.rend());
  for (std::size_t term : out) design.remove(term);
  return !out.empty();
}

/// Notes terms whose coefficient the data hardly tell apart from the others.
void note_near_collinear(const Design& design, const Solved& solved, const std::string& name,
                         std::vector<std::string>& notes) {
  constexpr double much = 1e4;  // standard error 100 times that of the term alone
  for (std::size_t term = 0; term < design.terms.size(); ++term) {
    double square = 0;
    for (std::size_t row = 0; row < solved.weights.size(); ++row)
      square += solved.weights[row] * design.columns[term][row] * design.columns[term][row];
    if (square * solved.solution.inverse_information[term][term] > much)
      notes.push_back(name + ": the measurements can hardly tell term " + to_string(design.terms[term]) +
                      " from the others; vary the sizes independently of each other");
  }
}

double call_level_r2(const std::vector<double>& y, const RegressionRows& rows, const std::vector<double>& fitted) {
  double weight = 0, mean = 0, total = 0, left = 0;
  for (std::size_t row = 0; row < y.size(); ++row) {
    weight += rows.counts[row];
    mean += rows.counts[row] * y[row];
  }
  mean /= weight;
  for (std::size_t row = 0; row < y.size(); ++row) {
    const double within = rows.squares.empty() ? 0.0 : rows.squares[row];
    total += rows.counts[row] * (y[row] - mean) * (y[row] - mean) + within;
    left += rows.counts[row] * (y[row] - fitted[row]) * (y[row] - fitted[row]) + within;
  }
  return total > 0 ? 1 - left / total : 0;
}

/// calls log(weighted squares / calls) - sum over the calls of log(weight) + (terms + 1) log(calls)
double call_level_bic(const std::vector<double>& y, const RegressionRows& rows, const Solved& solved) {
  double calls = 0, log_weights = 0;
  for (std::size_t row = 0; row < y.size(); ++row) {
    const double count = rows.squares.empty() ? 1.0 : rows.counts[row];
    calls += count;
    log_weights += count * std::log(solved.weights[row] / count);
  }
  const double squares = std::max(weighted_squares(y, rows, solved), std::numeric_limits<double>::min());
  return calls * std::log(squares / calls) - log_weights +
         (static_cast<double>(solved.solution.rank) + 1) * std::log(calls);
}

/// Standard errors and t-values from the covariance. Coefficients behind its end were not estimated by the regression:
/// they have no uncertainty of their own.
void add_uncertainty(PolynomialFit& fit, Matrix covariance) {
  const std::vector<double>& coefficients = fit.polynomial.coefficients();
  fit.covariance = std::move(covariance);
  fit.standard_errors.clear();
  fit.t_values.clear();
  if (fit.covariance.empty()) return;
  fit.covariance.resize(coefficients.size());
  for (auto& row : fit.covariance) row.resize(coefficients.size(), 0.0);
  for (std::size_t term = 0; term < coefficients.size(); ++term) {
    fit.standard_errors.push_back(std::sqrt(fit.covariance[term][term]));
    fit.t_values.push_back(fit.standard_errors[term] > 0 ? coefficients[term] / fit.standard_errors[term] : 0.0);
  }
}

PolynomialFit assemble(const Design& design, const Solved& solved, const Uncertainty& uncertainty,
                       double fixed_constant) {
  PolynomialFit fit;
  std::vector<core::Monomial> terms = design.terms;
  std::vector<double> coefficients = solved.solution.coefficients;
  if (fixed_constant != 0) {
    terms.push_back({});
    coefficients.push_back(fixed_constant);
  }
  fit.polynomial = core::Polynomial::make(std::move(terms), std::move(coefficients));
  fit.degrees_of_freedom = uncertainty.degrees_of_freedom;
  add_uncertainty(fit, uncertainty.covariance);
  return fit;
}

/// The term to remove: the least |t| below the limit, or nothing (the number of terms). The last term stays, and
/// `main`.
std::size_t insignificant_term(const Design& design, const std::vector<double>& coefficients, const Matrix& covariance,
                               const PolynomialRegression& what) {
  std::size_t weakest = coefficients.size();
  if (coefficients.size() < 2 || covariance.empty()) return weakest;
  double least = what.min_abs_t;
  for (std::size_t term = 0; term < coefficients.size(); ++term) {
    if (what.main && design.terms[term] == *what.main) continue;
    const double t = std::abs(coefficients[term]) / std::sqrt(covariance[term][term]);
    if (!(t < least)) continue;
    least = t;
    weakest = term;
  }
  return weakest;
}

}  // namespace

RegressionResult fit_polynomial(const ShapeRows& shapes, const RegressionRows& rows, const PolynomialRegression& what,
                                const std::string& name) {
  Design design{what.terms, {}};
  for (const core::Monomial& term : what.terms) design.columns.push_back(column_of(shapes, term));
  std::vector<double> y = rows.y;
  for (double& value : y) value -= what.fixed_constant;

  RegressionResult result;
  while (true) {
    const Solved solved = solve(design, y, rows, what);
    if (drop_unfitted(design, solved.solution, name, result.notes)) continue;
    const std::vector<double> leverage = leverages(design, solved);
    const Uncertainty uncertainty = uncertainty_of(design, y, rows, what, solved, leverage);
    const std::size_t weak = insignificant_term(design, solved.solution.coefficients, uncertainty.covariance, what);
    if (weak < design.terms.size()) {
      const double t = solved.solution.coefficients[weak] / std::sqrt(uncertainty.covariance[weak][weak]);
      result.notes.push_back(removal_note(name, design.terms[weak],
                                          "not significant: its coefficient " +
                                              short_number(solved.solution.coefficients[weak]) + " is " +
                                              short_number(std::abs(t)) + " standard errors from zero"));
      design.remove(weak);
      continue;
    }
    if (!solved.converged)
      result.notes.push_back(name + ": the weights did not settle; take another weighting or other terms");
    note_near_collinear(design, solved, name, result.notes);
    result.fit = assemble(design, solved, uncertainty, what.fixed_constant);
    result.fitted_terms = design.terms.size();
    result.leverage = leverage;
    result.weights = solved.weights;
    result.inverse_information = solved.solution.inverse_information;
    result.fit.r2 = call_level_r2(y, rows, solved.fitted);
    result.fit.bic = call_level_bic(y, rows, solved);
    result.fitted = solved.fitted;
    for (double& value : result.fitted) value += what.fixed_constant;
    return result;
  }
}

void set_covariance(RegressionResult& result, const ShapeRows& shapes, const std::vector<double>& variances) {
  if (shapes.size() <= result.fitted_terms) return;
  Design design;
  for (std::size_t term = 0; term < result.fitted_terms; ++term) {
    design.terms.push_back(result.fit.polynomial.terms()[term]);
    design.columns.push_back(column_of(shapes, design.terms.back()));
  }
  result.fit.degrees_of_freedom = static_cast<double>(shapes.size() - result.fitted_terms);
  add_uncertainty(result.fit, sandwich(design, result.inverse_information, result.weights, variances));
}

double published_constant(const ShapeRows& shapes, const std::vector<double>& y) {
  const std::vector<double> work = column_of(shapes, {1, 1, 1});
  const double limit = 3 * *std::min_element(work.begin(), work.end());
  std::vector<double> small;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (work[i] <= limit) small.push_back(y[i]);
  const double cut = quantile_of(small, 0.95);
  double sum = 0;
  int count = 0;
  for (double value : small) {
    if (value >= cut) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? std::max(0.0, sum / count) : 0.0;
}

}  // namespace hplcast::fit::detail
