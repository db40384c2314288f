#include "hplcast/fit/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The problem with weights multiplied in and columns scaled to length 1.
struct ScaledProblem {
  MatrixXd x;
  VectorXd y;
  VectorXd scale;  // length of each weighted column, 1 for a column of zeros
};

void require_finite(const std::vector<double>& values, const char* name) {
  for (double value : values)
    if (!std::isfinite(value)) throw core::DomainError(name, value, "finite numbers");
}

void validate(const RegressionData& data) {
  const std::size_t rows = data.y.size();
  require_finite(data.y, "y");
  for (const auto& column : data.columns) {
    if (column.size() != rows) throw core::DomainError("length of a column", column.size(), "the length of y");
    require_finite(column, "column");
  }
  if (data.weights.empty()) return;
  core::require(data.weights.size() == rows, "length of weights", data.weights.size(), "the length of y, or 0");
  require_finite(data.weights, "weight");
  for (double weight : data.weights)
    if (weight < 0) throw core::DomainError("weight", weight, "a number >= 0");
}

double weight_of(const RegressionData& data, std::size_t row) {
  return data.weights.empty() ? 1.0 : data.weights[row];
}

ScaledProblem make_scaled(const RegressionData& data) {
  const auto rows = static_cast<Index>(data.y.size());
  const auto terms = static_cast<Index>(data.columns.size());
  ScaledProblem problem{MatrixXd(rows, terms), VectorXd(rows), VectorXd::Ones(terms)};
  for (Index row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    const double root = std::sqrt(weight_of(data, r));
    problem.y(row) = root * data.y[r];
    for (Index term = 0; term < terms; ++term)
      problem.x(row, term) = root * data.columns[static_cast<std::size_t>(term)][r];
  }
  for (Index term = 0; term < terms; ++term) {
    const double length = problem.x.col(term).stableNorm();
    if (!(length > 0)) continue;
    problem.scale(term) = length;
    problem.x.col(term) /= length;
  }
  return problem;
}

/// Terms that are not combinations of terms before them: Gram-Schmidt, twice, since once is not orthogonal enough.
std::vector<Index> independent_terms(const MatrixXd& x) {
  // Least length of what is left of a column: the square root of the precision of a double. Below it the coefficient
  // has no correct digit.
  constexpr double tolerance = 1e-8;
  std::vector<Index> kept;
  MatrixXd basis(x.rows(), 0);
  for (Index term = 0; term < x.cols() && basis.cols() < x.rows(); ++term) {
    VectorXd rest = x.col(term);
    for (int pass = 0; pass < 2; ++pass) rest -= basis * (basis.transpose() * rest);
    const double length = rest.norm();
    if (length <= tolerance) continue;
    kept.push_back(term);
    basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
    basis.col(basis.cols() - 1) = rest / length;
  }
  return kept;
}

VectorXd solve_on(const ScaledProblem& problem, const std::vector<Index>& terms) {
  if (terms.empty()) return VectorXd(0);
  return MatrixXd(problem.x(Eigen::all, terms)).householderQr().solve(problem.y);
}

/// Lawson and Hanson (1974), chapter 23. Returns the terms with a positive coefficient; `kept` is in the order of
/// importance.
std::vector<Index> non_negative_terms(const ScaledProblem& problem, const std::vector<Index>& kept) {
  std::vector<Index> active;
  VectorXd solution = VectorXd::Zero(problem.x.cols());
  const double smallest_gain = 1e-12 * std::max(problem.y.norm(), std::numeric_limits<double>::min());
  for (std::size_t round = 0; round < 10 * kept.size() + 10; ++round) {
    const VectorXd gradient = problem.x.transpose() * (problem.y - problem.x * solution);
    Index best = -1;
    for (Index term : kept)
      if (std::find(active.begin(), active.end(), term) == active.end() && gradient(term) > smallest_gain &&
          (best < 0 || gradient(term) > gradient(best)))
        best = term;
    if (best < 0) break;
    active.push_back(best);
    while (true) {
      const VectorXd trial = solve_on(problem, active);
      double step = 1;
      for (std::size_t i = 0; i < active.size(); ++i)
        if (const auto t = static_cast<Index>(i); trial(t) <= 0)
          step = std::min(step, solution(active[i]) / std::max(solution(active[i]) - trial(t), 1e-300));
      for (std::size_t i = 0; i < active.size(); ++i)
        solution(active[i]) += step * (trial(static_cast<Index>(i)) - solution(active[i]));
      if (step >= 1) break;
      const auto is_zero = [&](Index term) {
        return solution(term) <= 1e-15 * std::abs(solution.cwiseAbs().maxCoeff());
      };
      for (Index term : active)
        if (is_zero(term)) solution(term) = 0;
      active.erase(std::remove_if(active.begin(), active.end(), [&](Index term) { return solution(term) <= 0; }),
                   active.end());
      if (active.empty()) break;
    }
  }
  std::sort(active.begin(), active.end());
  return active;
}

void add_uncertainty(const ScaledProblem& problem, const std::vector<Index>& terms, LeastSquares& result) {
  const auto count = static_cast<Index>(terms.size());
  if (count == 0) return;
  const Eigen::HouseholderQR<MatrixXd> qr(MatrixXd(problem.x(Eigen::all, terms)));
  const MatrixXd r = qr.matrixQR().topRows(count).triangularView<Eigen::Upper>();
  const MatrixXd inverse_r = r.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(count, count));
  const MatrixXd inverse = inverse_r * inverse_r.transpose();
  const double spare = static_cast<double>(result.rows) - static_cast<double>(count);
  const double variance = spare > 0 ? result.rss / spare : std::numeric_limits<double>::quiet_NaN();
  for (Index i = 0; i < count; ++i) {
    const auto a = static_cast<std::size_t>(terms[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < count; ++j) {
      const Index b = terms[static_cast<std::size_t>(j)];
      result.inverse_information[a][static_cast<std::size_t>(b)] =
          inverse(i, j) / problem.scale(static_cast<Index>(a)) / problem.scale(b);
    }
    result.standard_errors[a] = std::sqrt(variance * inverse(i, i)) / problem.scale(static_cast<Index>(a));
    result.t_values[a] = result.coefficients[a] / result.standard_errors[a];
  }
}

void add_summary(const RegressionData& data, LeastSquares& result) {
  double weight_sum = 0, weighted_y = 0;
  for (std::size_t row = 0; row < data.y.size(); ++row) {
    const double weight = weight_of(data, row);
    if (!(weight > 0)) continue;
    ++result.rows;
    weight_sum += weight;
    weighted_y += weight * data.y[row];
  }
  const double mean = weight_sum > 0 ? weighted_y / weight_sum : 0;
  double total = 0;
  for (std::size_t row = 0; row < data.y.size(); ++row) {
    double residual = data.y[row];
    for (std::size_t term = 0; term < data.columns.size(); ++term)
      residual -= result.coefficients[term] * data.columns[term][row];
    result.rss += weight_of(data, row) * residual * residual;
    total += weight_of(data, row) * (data.y[row] - mean) * (data.y[row] - mean);
  }
  result.r2 = total > 0 ? 1 - result.rss / total : 0;
}

}  // namespace

LeastSquares solve_least_squares(const RegressionData& data, const LeastSquaresOptions& options) {
  validate(data);
  const std::size_t terms = data.columns.size();
  LeastSquares result;
  result.coefficients.assign(terms, 0.0);
  result.standard_errors.assign(terms, 0.0);
  result.t_values.assign(terms, 0.0);
  result.inverse_information.assign(terms, std::vector<double>(terms, 0.0));

  const ScaledProblem problem = make_scaled(data);
  const std::vector<Index> kept = independent_terms(problem.x);
  const std::vector<Index> used = options.non_negative ? non_negative_terms(problem, kept) : kept;
  const VectorXd solution = solve_on(problem, used);
  for (std::size_t i = 0; i < used.size(); ++i)
    result.coefficients[static_cast<std::size_t>(used[i])] = solution(static_cast<Index>(i)) / problem.scale(used[i]);
  for (std::size_t term = 0; term < terms; ++term) {
    const auto t = static_cast<Index>(term);
    if (std::find(kept.begin(), kept.end(), t) == kept.end()) {
      result.collinear.push_back(term);
    } else if (std::find(used.begin(), used.end(), t) == used.end()) {
      result.at_zero.push_back(term);
    }
  }
  result.rank = used.size();
  add_summary(data, result);
  add_uncertainty(problem, used, result);
  return result;
}

}  // namespace hplcast::fit
