#include "hplcast/fit/curve_integral.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index term_count = 3;

/// Pieces with x moved to [0, 1].
struct ScaledPieces {
  VectorXd x, units;

  Index size() const { return x.size(); }
  /// The terms of the quadratic, times units.
  MatrixXd quadratic() const {
    MatrixXd h(size(), term_count);
    h.col(0) = units;
    h.col(1) = units.cwiseProduct(x);
    h.col(2) = h.col(1).cwiseProduct(x);
    return h;
  }
};

/// The pilot: the quadratic with the least relative residuals. Where it gets too low, a tenth of the cheapest unit.
class Pilot {
 public:
  Pilot(const ScaledPieces& measured, const VectorXd& cost) {
    const MatrixXd relative = cost.cwiseInverse().asDiagonal() * measured.quadratic();
    coefficients_ = relative.colPivHouseholderQr().solve(VectorXd::Ones(cost.size()));
    least_per_unit_ = 0.1 * cost.cwiseQuotient(measured.units).minCoeff();
  }
  VectorXd operator()(const ScaledPieces& pieces) const {
    return (pieces.quadratic() * coefficients_).cwiseMax(least_per_unit_ * pieces.units);
  }

 private:
  VectorXd coefficients_;
  double least_per_unit_ = 0;
};

MatrixXd matern(const VectorXd& x, const VectorXd& y, double length) {
  MatrixXd result(x.size(), y.size());
  for (Index i = 0; i < x.size(); ++i) {
    for (Index j = 0; j < y.size(); ++j) {
      const double distance = std::sqrt(3.0) * std::abs(x(i) - y(j)) / length;
      result(i, j) = (1 + distance) * std::exp(-distance);
    }
  }
  return result;
}

/// Everything but the hyperparameters, relative to the pilot.
struct Problem {
  ScaledPieces measured, gaps;
  VectorXd z;                 ///< of measured
  MatrixXd h, gap_h;          ///< relative terms
  VectorXd noise, gap_noise;  ///< variances of e, in s^2
  VectorXd gap_scale;         ///< of gaps
  VectorXd scale;             ///< of measured: their cost is scale z
  ScatterPrior prior;         ///< of a typical piece
};

/// Correlations of g for one length.
struct Correlations {
  MatrixXd measured, cross;  ///< cross: times the scale of the gaps; the last column is their sum
  double gaps;               ///< of the sum of all gaps, in their scale
};

Correlations correlations(const Problem& problem, double length) {
  const VectorXd& x = problem.measured.x;
  const Index count = problem.gaps.size();
  Correlations result{matern(x, x, length), MatrixXd(x.size(), count + 1), 0};
  result.cross.leftCols(count) = matern(x, problem.gaps.x, length) * problem.gap_scale.asDiagonal();
  result.cross.col(count) = result.cross.leftCols(count).rowwise().sum();
  result.gaps = problem.gap_scale.dot(matern(problem.gaps.x, problem.gaps.x, length) * problem.gap_scale);
  return result;
}

/// Estimates for one choice of hyperparameters.
struct Kriging {
  double log_likelihood = 0;  ///< restricted
  /// Per gap, of all gaps, and of the whole: all gaps with the measured pieces, whose costs are not in the mean.
  VectorXd mean, variance;
};

/// `ratio`: variance of g in that of e of a typical piece.
Kriging krige(const Problem& problem, const Correlations& chosen, double ratio) {
  const VectorXd& x = problem.measured.x;
  MatrixXd covariance = ratio * chosen.measured;
  covariance.diagonal() += problem.noise;
  const Eigen::LLT<MatrixXd> factor(covariance);
  const MatrixXd solved_h = factor.solve(problem.h);
  const MatrixXd information = problem.h.transpose() * solved_h;
  const Eigen::LLT<MatrixXd> information_factor(information);
  const VectorXd coefficients = information_factor.solve(solved_h.transpose() * problem.z);
  const VectorXd residual = problem.z - problem.h * coefficients;
  const VectorXd solved_residual = factor.solve(residual);
  const double spare = static_cast<double>(x.size() - term_count) + problem.prior.dof;
  // Costs that the quadratic gives to the last digit leave rounding, or nothing at all.
  constexpr double rounding = 1e-12;
  const double known = problem.prior.dof * problem.prior.unit_variance;
  const double scale = std::max((residual.dot(solved_residual) + known) / spare, rounding * rounding);
  const auto log_determinant = [](const Eigen::LLT<MatrixXd>& llt) {
    return 2 * MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  };
  Kriging result;
  result.log_likelihood =
      -0.5 * (log_determinant(factor) + log_determinant(information_factor) + spare * std::log(scale));

  const Index all_gaps = problem.gaps.size();
  const VectorXd& gap_scale = problem.gap_scale;
  const MatrixXd cross = ratio * chosen.cross;
  MatrixXd mean_terms(term_count, all_gaps + 1);
  mean_terms.leftCols(all_gaps) = problem.gap_h.transpose() * gap_scale.asDiagonal();
  mean_terms.col(all_gaps) = mean_terms.leftCols(all_gaps).rowwise().sum();
  const MatrixXd solved_cross = factor.solve(cross);
  result.mean = VectorXd(all_gaps + 2);
  result.mean.head(all_gaps + 1) = mean_terms.transpose() * coefficients + cross.transpose() * solved_residual;
  result.mean(all_gaps + 1) = result.mean(all_gaps);
  const MatrixXd unexplained = mean_terms - problem.h.transpose() * solved_cross;
  const MatrixXd solved_unexplained = information_factor.solve(unexplained);
  const auto of_curve = [&](Index gap, double own) {
    return ratio * own - cross.col(gap).dot(solved_cross.col(gap)) +
           unexplained.col(gap).dot(solved_unexplained.col(gap));
  };
  const VectorXd squares = gap_scale.cwiseAbs2(), chance = squares.cwiseProduct(problem.gap_noise);
  result.variance = VectorXd(all_gaps + 2);
  for (Index j = 0; j < all_gaps; ++j) result.variance(j) = of_curve(j, squares(j)) + chance(j);
  const double curve_of_all = of_curve(all_gaps, chosen.gaps);
  result.variance(all_gaps) = curve_of_all + chance.sum();
  const VectorXd weights = solved_cross.col(all_gaps) + solved_h * solved_unexplained.col(all_gaps);  // of z
  result.variance(all_gaps + 1) =
      curve_of_all + problem.noise.dot(problem.scale.cwiseProduct(problem.scale + 2 * weights));
  const double student = spare > 2 ? spare / (spare - 2) : 3;  // variance of Student's law; spare is 2 or more
  result.variance = student * scale * result.variance.cwiseMax(0.0);
  return result;
}

/// Lengths from a hundredth of the curve to all of it. As likely as all others together, before anything is seen, is
/// the quadratic alone: ten runs of HPL have no other curve (docs/measurements/sampled.md).
Kriging average(const Problem& problem) {
  constexpr double lengths[] = {0.01, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0}, ratios[] = {0.1, 0.3, 1.0, 3.0, 10.0, 30.0};
  std::vector<Kriging> results;
  for (const double length : lengths) {
    const Correlations chosen = correlations(problem, length);
    if (results.empty()) {
      results.push_back(krige(problem, chosen, 0));
      results.back().log_likelihood += std::log(static_cast<double>(std::size(lengths) * std::size(ratios)));
    }
    for (const double ratio : ratios) results.push_back(krige(problem, chosen, ratio));
  }
  double best = results.front().log_likelihood;
  for (const Kriging& one : results) best = std::max(best, one.log_likelihood);
  Kriging mixture;
  mixture.mean = VectorXd::Zero(results.front().mean.size());
  mixture.variance = mixture.mean;
  double sum = 0;
  for (const Kriging& one : results) sum += std::exp(one.log_likelihood - best);
  const auto weight = [&](const Kriging& one) { return std::exp(one.log_likelihood - best) / sum; };
  for (const Kriging& one : results) mixture.mean += weight(one) * one.mean;
  for (const Kriging& one : results)
    mixture.variance += weight(one) * (one.variance + (one.mean - mixture.mean).cwiseAbs2());
  return mixture;
}

void check(const std::vector<MeasuredPiece>& measured, const std::vector<CurvePiece>& gaps, const ScatterPrior& prior) {
  const std::size_t least = prior.dof >= 1 ? 4 : 5;
  core::require(measured.size() >= least, "measured pieces", measured.size(), "at least " + std::to_string(least));
  const auto check_piece = [](const CurvePiece& piece) {
    if (!std::isfinite(piece.x)) throw core::DomainError("x of a piece", piece.x, "a finite number");
    core::require(piece.units > 0 && std::isfinite(piece.units), "units of a piece", piece.units, "a positive number");
  };
  for (const MeasuredPiece& one : measured) {
    check_piece(one.piece);
    core::require(one.cost > 0 && std::isfinite(one.cost), "cost of a piece", one.cost, "a positive number");
  }
  for (const CurvePiece& one : gaps) check_piece(one);
}

ScaledPieces pieces_of(const std::vector<CurvePiece>& list) {
  ScaledPieces result;
  result.x.resize(static_cast<Index>(list.size()));
  result.units.resize(result.x.size());
  for (Index i = 0; i < result.size(); ++i) {
    const CurvePiece& one = list[static_cast<std::size_t>(i)];
    result.x(i) = one.x;
    result.units(i) = one.units;
  }
  return result;
}

void move_to_unit_interval(ScaledPieces& a, ScaledPieces& b) {
  double least = a.x.minCoeff(), most = a.x.maxCoeff();
  if (b.size() > 0) {
    least = std::min(least, b.x.minCoeff());
    most = std::max(most, b.x.maxCoeff());
  }
  const double width = most > least ? most - least : 1;
  for (ScaledPieces* pieces : {&a, &b}) pieces->x = (pieces->x.array() - least) / width;
}

}  // namespace

ScatterPrior scatter_of_rounds(const std::vector<std::vector<double>>& series, std::size_t round) {
  const std::size_t parts = std::min(round, std::max<std::size_t>(4, round / 8));
  std::size_t rows = 0;
  for (const std::vector<double>& units : series) rows += units.size() / round * parts;
  const auto lines = static_cast<Index>(2 * series.size());
  MatrixXd terms = MatrixXd::Zero(static_cast<Index>(rows), lines + static_cast<Index>(parts));
  VectorXd cost(terms.rows());
  Index row = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::size_t count = series[i].size() / round * parts;
    const Index first = row;
    for (std::size_t block = 0; block < count; ++block, ++row) {
      const auto border = [&](std::size_t number) { return number / parts * round + number % parts * round / parts; };
      const std::size_t from = border(block), to = border(block + 1);
      double sum = 0;
      for (std::size_t unit = from; unit < to; ++unit) sum += series[i][unit];
      cost(row) = sum / static_cast<double>(to - from);
      terms(row, static_cast<Index>(2 * i)) = 1;
      terms(row, static_cast<Index>(2 * i + 1)) = static_cast<double>(block);
      terms(row, lines + static_cast<Index>(block % parts)) = 1;
    }
    if (count > 0) cost.segment(first, row - first) /= cost.segment(first, row - first).mean();
  }
  if (rows == 0) return {};
  const Eigen::ColPivHouseholderQR<MatrixXd> solver(terms);
  const auto dof = static_cast<double>(terms.rows() - solver.rank());
  if (dof < 1) return {};
  const double squares = (cost - terms * solver.solve(cost)).squaredNorm();
  return {squares / dof * static_cast<double>(round) / static_cast<double>(parts), dof};
}

CurveIntegral integrate_curve(const std::vector<MeasuredPiece>& measured, const std::vector<CurvePiece>& gaps,
                              const ScatterPrior& prior) {
  check(measured, gaps, prior);
  Problem problem;
  problem.measured = pieces_of(core::mapped(measured, &MeasuredPiece::piece));
  problem.gaps = pieces_of(gaps);
  move_to_unit_interval(problem.measured, problem.gaps);
  VectorXd cost(problem.measured.size());
  for (Index i = 0; i < cost.size(); ++i) cost(i) = measured[static_cast<std::size_t>(i)].cost;
  const Pilot pilot(problem.measured, cost);
  const VectorXd scale = pilot(problem.measured), gap_scale = pilot(problem.gaps);
  const VectorXd& units = problem.measured.units;
  const double typical_units = core::upper_median({units.data(), units.data() + units.size()});
  problem.z = cost.cwiseQuotient(scale);
  problem.h = scale.cwiseInverse().asDiagonal() * problem.measured.quadratic();
  problem.gap_h = gap_scale.cwiseInverse().asDiagonal() * problem.gaps.quadratic();
  problem.noise = typical_units * problem.measured.units.cwiseInverse();
  problem.gap_noise = typical_units * problem.gaps.units.cwiseInverse();
  const Index count = problem.gaps.size();
  problem.gap_scale = gap_scale;
  problem.scale = scale;
  problem.prior = {prior.unit_variance / typical_units, prior.dof};

  CurveIntegral result;
  Index worst = 0;
  // Where hardly anything is spent, a large relative distance means nothing.
  const VectorXd mean = scale.sum() / problem.measured.units.sum() * problem.measured.units;
  result.largest_deviation = (cost - scale).cwiseAbs().cwiseQuotient(scale.cwiseMax(mean)).maxCoeff(&worst);
  result.deviates_at = measured[static_cast<std::size_t>(worst)].piece.x;
  const Kriging estimate = average(problem);
  for (Index j = 0; j < count; ++j) result.pieces.push_back({estimate.mean(j), std::sqrt(estimate.variance(j))});
  result.gaps = {estimate.mean(count), std::sqrt(estimate.variance(count))};
  result.whole = {cost.sum() + estimate.mean(count + 1), std::sqrt(estimate.variance(count + 1))};
  return result;
}

}  // namespace hplcast::fit
