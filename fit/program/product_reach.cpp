#include "fit/program/program_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fit/kernel/kernel_regression.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit::detail {

namespace {

constexpr core::Monomial face{1, 1, 0}, constant_product{0, 0, 0};

double largest(const KernelTable& table, const core::Monomial& size) {
  double result = 0;
  for (const ShapeSummary& shape : table.shapes()) result = std::max(result, size(shape.shape));
  return result;
}

/// Seconds above the law of a product that was measured.
struct Excess {
  core::KernelShape shape;
  double excess_s, weight;
};

std::vector<Excess> excesses_of(const KernelTable& farther, const core::DurationLaw& law, const core::Monomial& split,
                                double observed) {
  std::vector<Excess> result;
  for (const ShapeSummary& each : farther.shapes()) {
    if (!(split(each.shape) > observed)) continue;
    const double count = static_cast<double>(each.count);
    result.push_back({each.shape, each.mean_s - law.mean_s(each.shape), count / (each.mean_s * each.mean_s)});
  }
  return result;
}

/// b (m n - begin).
struct Slope {
  double per_element_s = 0, begin = 0;
};

Slope slope_from(const std::vector<Excess>& excesses, double begin) {
  double products = 0, squares = 0;
  for (const Excess& each : excesses) {
    const double elements = face(each.shape) - begin;
    products += each.weight * elements * each.excess_s;
    squares += each.weight * elements * elements;
  }
  return {squares > 0 ? std::max(0.0, products / squares) : 0, begin};
}

Slope slope_of(const std::vector<Excess>& excesses, double least_begin) {
  RegressionData data;
  data.columns.resize(2);
  for (const Excess& each : excesses) {
    data.columns[0].push_back(face(each.shape));
    data.columns[1].push_back(1);
    data.y.push_back(each.excess_s);
    data.weights.push_back(each.weight);
  }
  constexpr std::size_t unknowns = 2;
  double begin = least_begin;
  if (data.y.size() > unknowns) {
    const LeastSquares line = solve_least_squares(data);
    if (line.coefficients[0] > 0) begin = std::max(begin, -line.coefficients[1] / line.coefficients[0]);
  }
  return slope_from(excesses, begin);
}

/// Between what was observed and what was measured after it.
double between(double largest_observed, const std::vector<Excess>& excesses, const core::Monomial& split) {
  double next = std::numeric_limits<double>::infinity();
  for (const Excess& each : excesses) next = std::min(next, split(each.shape));
  return std::sqrt(largest_observed * next);
}

core::Polynomial with_term(const core::Polynomial& polynomial, const core::Monomial& term, double coefficient) {
  std::vector<core::Monomial> terms = polynomial.terms();
  std::vector<double> coefficients = polynomial.coefficients();
  const auto found = std::find(terms.begin(), terms.end(), term);
  if (found != terms.end()) {
    coefficients[static_cast<std::size_t>(found - terms.begin())] += coefficient;
  } else {
    terms.push_back(term);
    coefficients.push_back(coefficient);
  }
  return core::Polynomial::make(std::move(terms), std::move(coefficients));
}

}  // namespace

KernelFit with_wider_products(const KernelFit& inside, const KernelTable& observed, const KernelTable& farther) {
  const core::PiecewiseLaw& law = inside.model.cluster_law();
  std::vector<core::LawPiece> pieces = law.pieces();
  const bool has_pieces = pieces.size() > 1;
  const core::Monomial split = has_pieces ? law.split() : face;
  const core::DurationLaw last = pieces.back().law;
  const double largest_observed = largest(observed, split);
  const std::vector<Excess> excesses = excesses_of(farther, last, split, largest_observed);
  const Slope slope = has_pieces ? slope_from(excesses, 0) : slope_of(excesses, largest_observed);
  if (!(slope.per_element_s > 0)) return inside;
  core::Polynomial mu = with_term(last.mu(), face, slope.per_element_s);
  if (slope.begin > 0) mu = with_term(mu, constant_product, -slope.per_element_s * slope.begin);
  const double from = has_pieces ? between(largest_observed, excesses, split) : slope.begin;
  pieces.push_back({from, core::DurationLaw::make(std::move(mu), last.sigma(), last.noise(), last.modes())});

  KernelFit fit = inside;
  fit.pieces.push_back(fit.pieces.back());
  fit.pieces.back().from = from;
  core::ShapeRange range = observed.range();
  const core::ShapeRange reached = farther.range();
  range.max = {std::max(range.max.m, reached.max.m), std::max(range.max.n, reached.max.n),
               std::max(range.max.k, reached.max.k)};
  constexpr double ns_per_s = 1e9;
  return with_pieces(
      std::move(fit), split, std::move(pieces), range,
      {"from " + to_string(split) + " = " + short_number(from) + ": " + short_number(ns_per_s * slope.per_element_s) +
       " ns more per element of m x n, as measured after the run"});
}

}  // namespace hplcast::fit::detail
