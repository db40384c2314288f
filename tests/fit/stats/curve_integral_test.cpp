// The cost of a curve from pieces of it: against curves whose integral is known.
#include "hplcast/fit/curve_integral.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "tests/support/asked.hpp"
#include "tests/support/figure.hpp"

namespace hplcast::fit {
namespace {

constexpr int panels = 1000;
constexpr int unit = 8;

using Cost = std::function<double(double)>;

double falling(double remaining) {
  return 1e-3 + 2e-5 * remaining + 3e-7 * remaining * remaining;
}

/// Pieces of 8 panels: seven windows of two of them, or more, are measured, with a relative scatter.
struct Sampled {
  std::vector<MeasuredPiece> measured;
  std::vector<CurvePiece> gaps;
  double truth = 0;  ///< of the gaps
};

/// `neighbours`: correlation of pieces that follow on each other.
Sampled sampled(const Cost& cost, double scatter, std::uint64_t seed, int of_twenty = 2, double neighbours = 0) {
  Sampled result;
  double last = 0;
  core::RandomStream random({seed, core::stream_design, 0, 0, 0});
  for (int piece = 0; piece * unit < panels; ++piece) {
    double sum = 0;
    for (int i = 0; i < unit; ++i) sum += cost(panels - piece * unit - i);
    last = neighbours * last + std::sqrt(1 - neighbours * neighbours) * random.normal();
    sum *= 1 + scatter * last;
    const CurvePiece here{panels - piece * unit - (unit - 1) / 2.0, unit};
    if (piece % 20 < of_twenty) {
      result.measured.push_back({here, sum});
    } else {
      result.gaps.push_back(here);
      result.truth += sum;
    }
  }
  return result;
}

TEST(CurveIntegral, OfAQuadraticIsExact) {
  const Sampled data = sampled(falling, 0, 1);
  const CurveIntegral found = integrate_curve(data.measured, data.gaps);
  // A piece is taken for its middle: 3e-7 (unit^2 - 1)/12 per panel of 1e-3 or more.
  EXPECT_NEAR(found.gaps.cost / data.truth, 1, 1e-5);
  EXPECT_LT(found.gaps.sd / data.truth, 1e-4);
  EXPECT_LT(found.largest_deviation, 2e-3);
  double sum = 0;
  for (const CostEstimate& one : found.pieces) sum += one.cost;
  EXPECT_NEAR(sum / found.gaps.cost, 1, 1e-12);
}

TEST(CurveIntegral, OfCostsThatAreEqualToTheLastDigitIsTheirSum) {
  Sampled data = sampled([](double) { return 0.5; }, 0, 1);
  const CurveIntegral found = integrate_curve(data.measured, data.gaps);
  EXPECT_NEAR(found.gaps.cost / data.truth, 1, 1e-9);  // rounding of some hundred operations
  EXPECT_NEAR(found.gaps.sd / data.truth, 0, 1e-9);
  EXPECT_NEAR(found.whole.sd / data.truth, 0, 1e-9);
  for (const CostEstimate& one : found.pieces) EXPECT_NEAR(one.cost, unit * 0.5, 1e-9);
}

// Two standard deviations hold 95.4 % of normal errors: of 200 at least 180 but for less than one in a thousand times.
TEST(CurveIntegral, SaysHowFarItMayBeOff) {
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Sampled data = sampled(falling, 0.02, seed);
    const CurveIntegral found = integrate_curve(data.measured, data.gaps);
    inside += std::abs(found.gaps.cost - data.truth) < 2 * found.gaps.sd ? 1 : 0;
    // 108 pieces of 2 %, of which the largest counts some 3/108: 0.25 %; and what 14 pieces say about three terms.
    EXPECT_LT(found.gaps.sd / data.truth, 0.02);
  }
  EXPECT_GE(inside, 180);
}

TEST(CurveIntegralFigures, BarsHoldWhereNeighboursAreAlike) {
  const auto seeds = static_cast<std::uint64_t>(test::asked("HPLCAST_SEEDS", 40));
  const auto inside = [&](double neighbours) {
    double count = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Sampled data = sampled(falling, 0.02, seed, 2, neighbours);
      const CurveIntegral found = integrate_curve(data.measured, data.gaps);
      count += std::abs(found.gaps.cost - data.truth) < 2.5 * found.gaps.sd ? 1 : 0;
    }
    return count / static_cast<double>(seeds);
  };
  // The facts' shares, with three binomial standard deviations of 4 %.
  const double chance = 3 * std::sqrt(0.04 / static_cast<double>(seeds));
  test::expect_figure("sampled: inside the bar, independent pieces", inside(0), 0.97 - chance, 1);
  test::expect_figure("sampled: inside the bar, neighbours correlated 0.3", inside(0.3), 0.93 - chance, 1);
  test::expect_figure("sampled: inside the bar, neighbours correlated -0.3", inside(-0.3), 0.99 - chance, 1);
}

// Where nearly half of the pieces are measured, their own scatter counts as well: without it 179 of 200 are inside.
TEST(CurveIntegral, SaysHowFarTheWholeMayBeOffTheMean) {
  double truth = 0, of_gaps = 0, of_whole = 0;
  for (int piece = 0; piece * unit < panels; ++piece)
    for (int i = 0; i < unit; ++i) truth += falling(panels - piece * unit - i);
  int inside = 0;
  constexpr int seeds = 200;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Sampled data = sampled(falling, 0.02, seed, 9);
    const CurveIntegral found = integrate_curve(data.measured, data.gaps);
    double measured = 0;
    for (const MeasuredPiece& one : data.measured) measured += one.cost;
    EXPECT_NEAR(found.whole.cost, measured + found.gaps.cost, 1e-12 * truth);
    inside += std::abs(found.whole.cost - truth) < 2 * found.whole.sd ? 1 : 0;
    of_gaps += found.gaps.sd / seeds;
    of_whole += found.whole.sd / seeds;
  }
  EXPECT_GE(inside, 180);  // as above
  EXPECT_LE(inside, 198);  // and not too wide: 95 % are 190, three standard deviations 9
  EXPECT_GT(of_whole, 1.1 * of_gaps);
}

// Three spare pieces of seven may lie on a line by chance. A prior of four degrees of freedom does not let them.
TEST(CurveIntegral, HasNoBarOfNothingWithAPrior) {
  const auto few = [](std::uint64_t seed) {
    Sampled data = sampled(falling, 0.02, seed, 1);
    data.measured.erase(data.measured.begin() + 1, data.measured.begin() + 4);  // four are left
    return data;
  };
  const double truth = 0.02 * 0.02 * unit;
  int inside = 0;
  double least = 1, most = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Sampled data = few(seed);
    ASSERT_EQ(data.measured.size(), 4U);
    const CurveIntegral found = integrate_curve(data.measured, data.gaps, {truth, 4});
    const double share = found.gaps.sd / data.truth;
    least = std::min(least, share);
    most = std::max(most, share);
    inside += std::abs(found.gaps.cost - data.truth) < 2 * found.gaps.sd ? 1 : 0;
  }
  EXPECT_GE(inside, 180);      // as above
  EXPECT_LT(most, 4 * least);  // of a variance with one degree of freedom: orders of magnitude
  EXPECT_THROW(integrate_curve(few(1).measured, few(1).gaps), core::DomainError);
}

TEST(CurveIntegral, TakesTheScatterWithinRoundsForThatOfRounds) {
  core::RandomStream random({1, core::stream_design, 0, 0, 0});
  std::vector<std::vector<double>> series(200);
  for (std::vector<double>& one : series)
    for (int i = 0; i < 46; ++i)  // four rounds of ten units, of which some always cost more, and a rest
      one.push_back((5 - 0.005 * i) * (1 + (i % 10 < 5 ? 0.1 : 0) + 0.03 * random.normal()));
  const ScatterPrior found = scatter_of_rounds(series, 10);
  EXPECT_EQ(found.dof, 200 * (16 - 2) - 3);
  // Relative to the mean, which the rhythm makes 1.05 times as large; blocks of two and three units in place
  // of 2.5: 1.04 times. 2800 degrees of freedom: 2.7 %, and three times that.
  EXPECT_NEAR(found.unit_variance / (0.03 * 0.03 / (1.05 * 1.05)), 1.04, 0.08);
  EXPECT_EQ(scatter_of_rounds({{1, 2, 3}, {}}, 4).dof, 0);
  EXPECT_EQ(scatter_of_rounds({{1, 2, 3, 4}, {}}, 4).dof, 0);
  EXPECT_EQ(scatter_of_rounds({}, 4).dof, 0);
}

// Three rounds of 128 units have four degrees of freedom by quarters, and 28 by sixteenths.
TEST(CurveIntegral, TakesShortPartsOfLongRounds) {
  core::RandomStream random({2, core::stream_design, 0, 0, 0});
  double mean = 0;
  constexpr int times = 40;
  for (int time = 0; time < times; ++time) {
    std::vector<std::vector<double>> series(3);
    for (std::vector<double>& one : series)
      for (int i = 0; i < 128; ++i) one.push_back((5 - 0.005 * i) * (1 + 0.03 * random.normal()));
    const ScatterPrior found = scatter_of_rounds(series, 128);
    EXPECT_EQ(found.dof, 3 * (16 - 2) - (16 - 2));
    mean += found.unit_variance / (0.03 * 0.03) / times;
  }
  EXPECT_NEAR(mean, 1, 0.13);  // 1120 degrees of freedom: 4.2 %, three times
}

TEST(CurveIntegral, DeviatesLittleWhereLittleIsSpent) {
  // Twice the cost of the last tenth of the curve is about a thirtieth of the mean cost.
  const auto raised = [](double remaining) { return falling(remaining) * (remaining < 70 ? 2 : 1); };
  const Sampled data = sampled(raised, 0, 1);
  EXPECT_LT(integrate_curve(data.measured, data.gaps).largest_deviation, 0.05);
}

TEST(CurveIntegral, FollowsACurveThatIsNoQuadratic) {
  const auto bent = [](double remaining) { return falling(remaining) * (1 + 0.1 * std::sin(remaining / 120)); };
  const Sampled data = sampled(bent, 0.002, 3);
  const CurveIntegral found = integrate_curve(data.measured, data.gaps);
  EXPECT_GT(found.largest_deviation, 0.05);
  EXPECT_LT(std::abs(found.gaps.cost - data.truth), 2.5 * found.gaps.sd);
  EXPECT_LT(std::abs(found.gaps.cost / data.truth - 1), 0.02);  // of waves of 10 %, with a window in each half wave
}

TEST(CurveIntegral, DoesNotDependOnTheOrderOfThePieces) {
  Sampled data = sampled(falling, 0.01, 4);
  const double cost = integrate_curve(data.measured, data.gaps).gaps.cost;
  std::reverse(data.measured.begin(), data.measured.end());
  EXPECT_NEAR(integrate_curve(data.measured, data.gaps).gaps.cost / cost, 1, 1e-9);
}

TEST(CurveIntegral, WithoutGapsIsZero) {
  const Sampled data = sampled(falling, 0.01, 5);
  const CurveIntegral found = integrate_curve(data.measured, {});
  EXPECT_EQ(found.gaps.cost, 0);
  EXPECT_EQ(found.gaps.sd, 0);
}

TEST(CurveIntegral, RefusesWhatSaysNothing) {
  Sampled data = sampled(falling, 0.01, 6);
  EXPECT_THROW(integrate_curve({data.measured.begin(), data.measured.begin() + 4}, data.gaps), core::DomainError);
  std::vector<MeasuredPiece> wrong = data.measured;
  wrong[3].cost = 0;
  EXPECT_THROW(integrate_curve(wrong, data.gaps), core::DomainError);
  wrong[3] = {{std::numeric_limits<double>::quiet_NaN(), 1}, 1};
  EXPECT_THROW(integrate_curve(wrong, data.gaps), core::DomainError);
  data.gaps[0].units = -1;
  EXPECT_THROW(integrate_curve(data.measured, data.gaps), core::DomainError);
}

}  // namespace
}  // namespace hplcast::fit
