#include "hplcast/fit/curve_integral.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

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
  MatrixXd targets;           ///< one column per estimate: weights of gaps; the last one: all gaps
  VectorXd scale;             ///< of measured: their cost is scale z
};

struct Hyperparameters {
  double length;
  double ratio;  ///< variance of g in that of e of a typical piece
};

/// Estimates for one choice of hyperparameters.
struct Kriging {
  double log_likelihood = 0;  ///< restricted
  /// Per target, and of the whole: the last target with the measured pieces, whose costs are not in the mean.
  VectorXd mean, variance;
};

Kriging krige(const Problem& problem, const Hyperparameters& chosen) {
  const VectorXd& x = problem.measured.x;
  MatrixXd covariance = chosen.ratio * matern(x, x, chosen.length);
  covariance.diagonal() += problem.noise;
  const Eigen::LLT<MatrixXd> factor(covariance);
  const MatrixXd solved_h = factor.solve(problem.h);
  const MatrixXd information = problem.h.transpose() * solved_h;
  const Eigen::LLT<MatrixXd> information_factor(information);
  const VectorXd coefficients = information_factor.solve(solved_h.transpose() * problem.z);
  const VectorXd residual = problem.z - problem.h * coefficients;
  const VectorXd solved_residual = factor.solve(residual);
  const auto spare = static_cast<double>(x.size() - term_count);
  // Costs that the quadratic gives to the last digit leave rounding, or nothing at all.
  constexpr double rounding = 1e-12;
  const double scale = std::max(residual.dot(solved_residual) / spare, rounding * rounding);
  const auto log_determinant = [](const Eigen::LLT<MatrixXd>& llt) {
    return 2 * MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  };
  Kriging result;
  result.log_likelihood =
      -0.5 * (log_determinant(factor) + log_determinant(information_factor) + spare * std::log(scale));

  const MatrixXd cross = chosen.ratio * matern(x, problem.gaps.x, chosen.length) * problem.targets;
  const MatrixXd mean_terms = problem.gap_h.transpose() * problem.targets;
  const MatrixXd solved_cross = factor.solve(cross);
  const Index all_gaps = problem.targets.cols() - 1;
  result.mean = VectorXd(all_gaps + 2);
  result.mean.head(all_gaps + 1) = mean_terms.transpose() * coefficients + cross.transpose() * solved_residual;
  result.mean(all_gaps + 1) = result.mean(all_gaps);
  const MatrixXd between = chosen.ratio * matern(problem.gaps.x, problem.gaps.x, chosen.length) * problem.targets;
  const MatrixXd unexplained = mean_terms - problem.h.transpose() * solved_cross;
  const MatrixXd solved_unexplained = information_factor.solve(unexplained);
  const auto of_curve = [&](Index target) {
    return problem.targets.col(target).dot(between.col(target)) - cross.col(target).dot(solved_cross.col(target)) +
           unexplained.col(target).dot(solved_unexplained.col(target));
  };
  result.variance = VectorXd(all_gaps + 2);
  for (Index j = 0; j <= all_gaps; ++j)
    result.variance(j) = of_curve(j) + problem.targets.col(j).cwiseAbs2().dot(problem.gap_noise);
  const VectorXd weights = solved_cross.col(all_gaps) + solved_h * solved_unexplained.col(all_gaps);  // of z
  result.variance(all_gaps + 1) =
      of_curve(all_gaps) + problem.noise.dot(problem.scale.cwiseProduct(problem.scale + 2 * weights));
  const double student = spare > 2 ? spare / (spare - 2) : 3;  // variance of Student's law; there are 5 pieces or more
  result.variance = student * scale * result.variance.cwiseMax(0.0);
  return result;
}

/// Lengths from a hundredth of the curve to all of it.
std::vector<Hyperparameters> grid() {
  std::vector<Hyperparameters> all = {{1, 0}};
  for (const double length : {0.01, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0})
    for (const double ratio : {0.1, 0.3, 1.0, 3.0, 10.0, 30.0}) all.push_back({length, ratio});
  return all;
}

Kriging average(const Problem& problem) {
  std::vector<Kriging> results;
  for (const Hyperparameters& one : grid()) results.push_back(krige(problem, one));
  double best = results.front().log_likelihood;
  for (const Kriging& one : results) best = std::max(best, one.log_likelihood);
  Kriging mixture;
  mixture.mean = VectorXd::Zero(results.front().mean.size());
  VectorXd squares = mixture.mean;
  double sum = 0;
  for (const Kriging& one : results) {
    const double weight = std::exp(one.log_likelihood - best);
    sum += weight;
    mixture.mean += weight * one.mean;
    squares += weight * (one.variance + one.mean.cwiseAbs2());
  }
  mixture.mean /= sum;
  mixture.variance = (squares / sum - mixture.mean.cwiseAbs2()).cwiseMax(0.0);
  return mixture;
}

void check(const std::vector<MeasuredPiece>& measured, const std::vector<CurvePiece>& gaps) {
  constexpr std::size_t least = 5;
  if (measured.size() < least) throw core::DomainError("measured pieces", measured.size(), "at least 5");
  const auto check_piece = [](const CurvePiece& piece) {
    if (!std::isfinite(piece.x)) throw core::DomainError("x of a piece", piece.x, "a finite number");
    if (!(piece.units > 0) || !std::isfinite(piece.units))
      throw core::DomainError("units of a piece", piece.units, "a positive number");
  };
  for (const MeasuredPiece& one : measured) {
    check_piece(one.piece);
    if (!(one.cost > 0) || !std::isfinite(one.cost))
      throw core::DomainError("cost of a piece", one.cost, "a positive number");
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

CurveIntegral integrate_curve(const std::vector<MeasuredPiece>& measured, const std::vector<CurvePiece>& gaps) {
  check(measured, gaps);
  Problem problem;
  std::vector<CurvePiece> places;
  for (const MeasuredPiece& one : measured) places.push_back(one.piece);
  problem.measured = pieces_of(places);
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
  problem.targets = MatrixXd::Zero(count, count + 1);
  problem.targets.diagonal() = gap_scale;
  problem.targets.col(count) = gap_scale;
  problem.scale = scale;

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
