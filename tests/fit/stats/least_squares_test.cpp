#include "hplcast/fit/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hplcast/core/errors.hpp"

namespace hplcast::fit {
namespace {

// Five rows worked out by hand: y = 1 2 4 3 5 on x = 1..5 gives slope 0.9, intercept 0.3, rss 1.9,
// se(slope) = sqrt(1.9/3/10) = 0.2516611478423583, se(intercept) = sqrt(1.9/3*(1/5+9/10)) = 0.834665600101461.
RegressionData five_rows() {
  return {{{1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}}, {1, 2, 4, 3, 5}, {}};
}

TEST(LeastSquares, GivesTheTextbookLineWithItsStandardErrors) {
  const LeastSquares fit = solve_least_squares(five_rows());
  // 1e-12: a few roundings of numbers of order 1.
  EXPECT_NEAR(fit.coefficients[0], 0.9, 1e-12);
  EXPECT_NEAR(fit.coefficients[1], 0.3, 1e-12);
  EXPECT_NEAR(fit.rss, 1.9, 1e-12);
  EXPECT_NEAR(fit.standard_errors[0], std::sqrt(1.9 / 3 / 10), 1e-12);
  EXPECT_NEAR(fit.standard_errors[1], std::sqrt(1.9 / 3 * 1.1), 1e-12);
  EXPECT_NEAR(fit.t_values[0], 0.9 / std::sqrt(1.9 / 30), 1e-12);
  EXPECT_NEAR(fit.r2, 1 - 1.9 / 10, 1e-12);
}

TEST(LeastSquares, AWeightOfTwoIsTheSameAsTheRowTwice) {
  RegressionData weighted = five_rows();
  weighted.weights = {1, 1, 2, 1, 1};
  RegressionData repeated = five_rows();
  repeated.columns[0].push_back(3);
  repeated.columns[1].push_back(1);
  repeated.y.push_back(4);
  const LeastSquares a = solve_least_squares(weighted), b = solve_least_squares(repeated);
  EXPECT_NEAR(a.coefficients[0], b.coefficients[0], 1e-12);
  EXPECT_NEAR(a.coefficients[1], b.coefficients[1], 1e-12);
  EXPECT_NEAR(a.rss, b.rss, 1e-12);
}

TEST(LeastSquares, DropsTheLaterOfTwoCollinearColumns) {
  RegressionData data = five_rows();
  data.columns.insert(data.columns.begin() + 1, {3, 6, 9, 12, 15});
  const LeastSquares fit = solve_least_squares(data);
  ASSERT_EQ(fit.collinear, std::vector<std::size_t>{1});
  EXPECT_EQ(fit.rank, 2u);
  EXPECT_EQ(fit.coefficients[1], 0.0);
  EXPECT_NEAR(fit.coefficients[0], 0.9, 1e-12);
}

TEST(LeastSquares, SolvesColumnsOfVeryDifferentSize) {
  RegressionData data;
  data.columns.resize(2);
  for (int i = 1; i <= 50; ++i) {
    data.columns[0].push_back(1e12 * i * i);
    data.columns[1].push_back(1);
    data.y.push_back(7e-11 * 1e12 * i * i + 3e-6);
  }
  const LeastSquares fit = solve_least_squares(data);
  EXPECT_NEAR(fit.coefficients[0] / 7e-11, 1, 1e-12);
  // The constant is 2e-11 of the largest y: about 5 of 16 digits are left.
  EXPECT_NEAR(fit.coefficients[1], 3e-6, 1e-9);
}

TEST(LeastSquares, NonNegativeHoldsANegativeTermAtZero) {
  RegressionData data = five_rows();
  for (double& y : data.y) y -= 2;  // the free intercept is now -1.7
  LeastSquaresOptions options;
  options.non_negative = true;
  const LeastSquares fit = solve_least_squares(data, options);
  EXPECT_EQ(fit.at_zero, std::vector<std::size_t>{1});
  EXPECT_EQ(fit.coefficients[1], 0.0);
  // Through the origin: sum(xy)/sum(x^2) = (-1 + 0 + 6 + 4 + 15)/55.
  EXPECT_NEAR(fit.coefficients[0], 24.0 / 55, 1e-12);
}

TEST(LeastSquares, FewerRowsThanTermsShowInTheRank) {
  const LeastSquares fit = solve_least_squares({{{1}, {2}}, {3}, {}});
  EXPECT_EQ(fit.rank, 1u);
  EXPECT_TRUE(std::isnan(fit.standard_errors[0]));
}

TEST(LeastSquares, RefusesNumbersThatAreNotFinite) {
  RegressionData data = five_rows();
  data.y[2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve_least_squares(data), core::DomainError);
  data = five_rows();
  data.columns[0][0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(solve_least_squares(data), core::DomainError);
  data = five_rows();
  data.weights = {1, 1, -1, 1, 1};
  EXPECT_THROW(solve_least_squares(data), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
