#include "fit/kernel/kernel_regression.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hplcast::fit::detail {

namespace {

using Eigen::MatrixXd;

/// X'WX with y as the last column: blocks are added up, never subtracted, so that no digits cancel.
std::vector<MatrixXd> block_products(const ShapeRows& rows, const std::vector<std::size_t>& order,
                                     const std::vector<core::Monomial>& terms, Weighting weighting,
                                     const std::vector<std::size_t>& starts) {
  const auto width = static_cast<Eigen::Index>(terms.size() + 1);
  // BIC supposes residuals of equal spread: that of kernels grows with their duration, whatever the weights of the fit.
  const double power = weighting == Weighting::ordinary ? 0 : 2;
  MatrixXd all(static_cast<Eigen::Index>(rows.size()), width);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ShapeSummary& summary = rows.shapes[order[i]];
    const double root = std::pow(summary.mean_s, -power / 2);
    for (std::size_t term = 0; term < terms.size(); ++term)
      all(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(term)) = root * terms[term](summary.shape);
    all(static_cast<Eigen::Index>(i), width - 1) = root * summary.mean_s;
  }
  for (Eigen::Index column = 0; column + 1 < width; ++column)
    if (const double length = all.col(column).norm(); length > 0) all.col(column) /= length;
  std::vector<MatrixXd> products;
  for (std::size_t block = 0; block + 1 < starts.size(); ++block) {
    const auto part = all.middleRows(static_cast<Eigen::Index>(starts[block]),
                                     static_cast<Eigen::Index>(starts[block + 1] - starts[block]));
    products.emplace_back(part.transpose() * part);
  }
  return products;
}

/// Residual sum of squares of a regression given by its products.
double residual_squares(const MatrixXd& product) {
  const Eigen::Index terms = product.rows() - 1;
  const MatrixXd normal = product.topLeftCorner(terms, terms);
  const Eigen::VectorXd right = product.topRightCorner(terms, 1);
  // A complete orthogonal decomposition also stands collinear terms, which pieces can have where the whole has not.
  const Eigen::VectorXd solution = normal.completeOrthogonalDecomposition().solve(right);
  return std::max(0.0, product(terms, terms) - right.dot(solution));
}

/// Starts of blocks of about equal numbers of shapes; equal values of `split` stay together. Ends with the number of
/// shapes.
std::vector<std::size_t> block_starts(const std::vector<double>& where, std::size_t least) {
  constexpr std::size_t most_blocks = 64;
  const std::size_t size = std::max(least, (where.size() + most_blocks - 1) / most_blocks);
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 1; i < where.size(); ++i)
    if (i - starts.back() >= size && where.size() - i >= least && where[i] > where[i - 1]) starts.push_back(i);
  starts.push_back(where.size());
  return starts;
}

}  // namespace

std::vector<double> find_breakpoints(const ShapeRows& rows, const core::Monomial& split,
                                     const std::vector<core::Monomial>& terms, Weighting weighting, int max_pieces) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<double> value = column_of(rows, split);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value[a] < value[b]; });
  std::vector<double> where;
  for (std::size_t i : order) where.push_back(value[i]);

  const std::vector<std::size_t> starts = block_starts(where, terms.size() + 3);
  const std::vector<MatrixXd> products = block_products(rows, order, terms, weighting, starts);
  const std::size_t blocks = products.size();
  // cost[i][j]: squares left by one polynomial on the blocks i..j.
  std::vector<std::vector<double>> cost(blocks, std::vector<double>(blocks, 0.0));
  for (std::size_t i = 0; i < blocks; ++i) {
    MatrixXd sum = MatrixXd::Zero(products[i].rows(), products[i].cols());
    for (std::size_t j = i; j < blocks; ++j) cost[i][j] = residual_squares(sum += products[j]);
  }
  // best[p][j]: least squares of the blocks up to j in p + 1 pieces, and where the last of these begins.
  const auto pieces = static_cast<std::size_t>(std::max(1, max_pieces));
  std::vector<std::vector<double>> best(pieces, std::vector<double>(blocks, std::numeric_limits<double>::infinity()));
  std::vector<std::vector<std::size_t>> last(pieces, std::vector<std::size_t>(blocks, 0));
  best[0] = cost[0];
  for (std::size_t p = 1; p < pieces; ++p)
    for (std::size_t j = p; j < blocks; ++j)
      for (std::size_t i = p; i <= j; ++i)
        if (const double squares = best[p - 1][i - 1] + cost[i][j]; squares < best[p][j]) {
          best[p][j] = squares;
          last[p][j] = i;
        }

  const double count = static_cast<double>(rows.size());
  std::size_t chosen = 0;
  double least_bic = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < pieces && p < blocks; ++p) {
    // Each piece adds its coefficients and the place of its break.
    const double parameters = static_cast<double>((p + 1) * (terms.size() + 1));
    // Less is rounding, not a better fit.
    const double floor = 1e-24 * static_cast<double>(blocks) * std::max(best[0][blocks - 1], 1e-280);
    const double bic = count * std::log(std::max(best[p][blocks - 1], floor) / count) + parameters * std::log(count);
    if (bic >= least_bic) continue;
    least_bic = bic;
    chosen = p;
  }
  std::vector<double> breaks;
  for (std::size_t p = chosen, end = blocks - 1; p > 0; --p) {
    const std::size_t begin = last[p][end];
    breaks.push_back(std::sqrt(where[starts[begin] - 1] * where[starts[begin]]));
    end = begin - 1;
  }
  std::reverse(breaks.begin(), breaks.end());
  return breaks;
}

}  // namespace hplcast::fit::detail
