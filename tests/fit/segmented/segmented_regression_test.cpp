#include "hplcast/fit/segmented_regression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "tests/fit/segmented/memcpy_generator.hpp"

namespace hplcast::fit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Objective all_objectives[] = {Objective::ols, Objective::weighted, Objective::log};

std::vector<SizeCell> cells_of(const std::vector<std::pair<double, double>>& rows) {
  SamplesBySize samples;
  for (const auto& [size, duration_s] : rows) samples.add(size, duration_s);
  return samples.cells();
}

SegmentedOptions with(Objective objective) {
  SegmentedOptions options;
  options.objective = objective;
  return options;
}

TEST(SamplesBySize, KeepsMeansAndSpreads) {
  const auto cells = cells_of({{8, 1}, {4, 10}, {8, 3}, {8, 8}});
  ASSERT_THAT(cells, SizeIs(2));
  EXPECT_EQ(cells[0].size, 4);
  EXPECT_EQ(cells[1].rows, 3);
  EXPECT_DOUBLE_EQ(cells[1].mean, 4);
  EXPECT_DOUBLE_EQ(cells[1].m2, 9 + 1 + 16);
  EXPECT_NEAR(cells[1].mean_log, std::log(24.0) / 3, 1e-15);
}

TEST(SamplesBySize, RefusesWhatIsNoMeasurement) {
  SamplesBySize samples;
  EXPECT_THROW(samples.add(-1, 1), core::DomainError);
  EXPECT_THROW(samples.add(std::nan(""), 1), core::DomainError);
  EXPECT_THROW(samples.add(1, 0), core::DomainError);
  EXPECT_THROW(samples.add(1, -2), core::DomainError);
  EXPECT_THROW(samples.add(1, std::numeric_limits<double>::infinity()), core::DomainError);
  EXPECT_EQ(samples.rows(), 0);
}

TEST(SegmentedRegression, FindsNoBreakpointInALine) {
  for (const Objective objective : all_objectives) {
    std::vector<std::pair<double, double>> rows;
    for (int i = 1; i <= 300; ++i) rows.emplace_back(i * i, 3e-6 + 2e-9 * i * i);
    const SegmentedFit fit = fit_segmented(cells_of(rows), with(objective));
    ASSERT_TRUE(fit.ok()) << fit.reason;
    ASSERT_THAT(fit.segments, SizeIs(1)) << to_string(objective);
    EXPECT_NEAR(fit.segments[0].intercept / 3e-6, 1, 1e-9);
    EXPECT_NEAR(fit.segments[0].slope / 2e-9, 1, 1e-9);
    EXPECT_EQ(fit.segments[0].n, 300);
  }
}

/// The generated data: three breakpoints, nothing else, in at least 99 % of the seeds.
class GeneratedMemcpy : public testing::TestWithParam<test::MemcpyNoise> {};

TEST_P(GeneratedMemcpy, HasItsThreeBreakpointsFoundAndNoneInvented) {
  for (const int points : {100, 200, 500}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const auto cells = cells_of(test::memcpy_rows(points, GetParam(), seed));
      found += test::breakpoints_match(fit_segmented(cells).breakpoints(), cells) ? 1 : 0;
    }
    RecordProperty("found_of_100_with_" + std::to_string(points) + "_points", found);
    EXPECT_GE(found, 99) << points << " points";
  }
}

INSTANTIATE_TEST_SUITE_P(Noise, GeneratedMemcpy,
                         testing::Values(test::MemcpyNoise::none, test::MemcpyNoise::homoscedastic,
                                         test::MemcpyNoise::heteroscedastic),
                         [](const auto& noise) { return test::to_string(noise.param); });

TEST(SegmentedRegression, FindsBreakpointsOfExactDataWithEveryObjective) {
  for (const Objective objective : all_objectives) {
    const auto cells = cells_of(test::memcpy_rows(300, test::MemcpyNoise::none, 3));
    const SegmentedFit fit = fit_segmented(cells, with(objective));
    EXPECT_TRUE(test::breakpoints_match(fit.breakpoints(), cells)) << to_string(objective);
    EXPECT_NEAR(fit.segments[0].slope / 1.739e-11, 1, 1e-6) << to_string(objective);
    EXPECT_NEAR(fit.segments[0].intercept / 4.181e-8, 1, 1e-6) << to_string(objective);
  }
}

/// The best way to cut, found by trying all ways to put up to two breakpoints.
double least_rss_with_two_breakpoints(const std::vector<SizeCell>& cells, SegmentedOptions options) {
  double least = std::numeric_limits<double>::infinity();
  const auto n = cells.size();
  for (std::size_t i = 3; i + 6 <= n; ++i) {
    for (std::size_t j = i + 3; j + 3 <= n; ++j) {
      options.breakpoints = {cells[i].size, cells[j].size};
      least = std::min(least, fit_segmented(cells, options).rss);
    }
  }
  return least;
}

TEST(SegmentedRegression, FindsTheVeryBestPlacesForTwoBreakpoints) {
  for (const Objective objective : all_objectives) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      core::RandomStream stream({seed, core::stream_fit, 0, 0});
      std::vector<std::pair<double, double>> rows;
      for (int i = 0; i < 45; ++i) {
        const double x = 10 + 20 * i;
        const double y = x < 300 ? 2e-6 + 1e-9 * x : x < 620 ? 4e-6 + 0.5e-9 * x : 1e-6 + 9e-9 * x;
        rows.emplace_back(x, y * (1 + 0.03 * stream.normal()));
      }
      const auto cells = cells_of(rows);
      const SegmentedFit fit = fit_segmented(cells, with(objective));
      ASSERT_THAT(fit.segments, SizeIs(3)) << to_string(objective) << ", seed " << seed;
      EXPECT_LE(fit.rss, least_rss_with_two_breakpoints(cells, with(objective)) * (1 + 1e-12));
    }
  }
}

TEST(SegmentedRegression, SolvesTheLogarithmicLineToItsOptimum) {
  core::RandomStream stream({5, core::stream_fit, 0, 0});
  std::vector<std::pair<double, double>> rows;
  for (int i = 0; i < 200; ++i) {
    const double x = std::pow(10, 1 + 5 * stream.uniform());
    rows.emplace_back(x, (2e-6 + 3e-10 * x) * std::exp(0.2 * stream.normal()));
  }
  const auto cells = cells_of(rows);
  SegmentedOptions options;
  options.breakpoints = std::vector<double>();
  const SegmentedFit fit = fit_segmented(cells, options);
  const auto rss_of = [&](double intercept, double slope) {
    double sum = 0;
    for (const auto& [x, y] : rows) sum += std::pow(std::log(y / (intercept + slope * x)), 2);
    return sum;
  };
  const FittedSegment& line = fit.segments[0];
  EXPECT_NEAR(rss_of(line.intercept, line.slope), fit.rss, 1e-12);
  // A stationary point of a smooth function: a relative step of 1e-4 changes it by some 1e-8 of its curvature, never
  // downwards.
  for (double factor : {0.9999, 1.0001}) {
    EXPECT_GT(rss_of(line.intercept * factor, line.slope), fit.rss);
    EXPECT_GT(rss_of(line.intercept, line.slope * factor), fit.rss);
  }
}

TEST(SegmentedRegression, KeepsLogarithmicLinesNonNegative) {
  std::vector<std::pair<double, double>> falling, through_zero;
  for (int i = 1; i <= 50; ++i) {
    falling.emplace_back(i * 100, 1e-6 * std::pow(i, -0.3));
    through_zero.emplace_back(i * 100, 1e-9 * std::pow(i, 1.2));
  }
  SegmentedOptions options;
  options.breakpoints = std::vector<double>();
  const FittedSegment flat = fit_segmented(cells_of(falling), options).segments[0];
  EXPECT_EQ(flat.slope, 0);
  EXPECT_GT(flat.intercept, 0);
  const FittedSegment proportional = fit_segmented(cells_of(through_zero), options).segments[0];
  EXPECT_EQ(proportional.intercept, 0);
  EXPECT_GT(proportional.slope, 0);
}

TEST(SegmentedRegression, BearsOutliers) {
  core::RandomStream stream({9, core::stream_fit, 0, 0});
  std::vector<std::pair<double, double>> rows;
  for (int i = 0; i < 400; ++i) {
    const double x = std::pow(10, 1 + 5 * stream.uniform());
    const double outlier = i % 40 == 0 ? 3 : 1;
    rows.emplace_back(x, (x < 5000 ? 2e-6 + 3e-10 * x : 8e-6 + 3e-10 * x) * outlier * (1 + 0.02 * stream.normal()));
  }
  const SegmentedFit fit = fit_segmented(cells_of(rows));
  ASSERT_THAT(fit.breakpoints(), SizeIs(1));
  EXPECT_NEAR(fit.breakpoints()[0] / 5000, 1, 0.1);
}

TEST(SegmentedRegression, UsesGivenBreakpoints) {
  const auto cells = cells_of({{1, 1}, {2, 2}, {3, 3}, {10, 5}, {11, 5}, {12, 5}});
  SegmentedOptions options = with(Objective::ols);
  options.breakpoints = {10};
  const SegmentedFit fit = fit_segmented(cells, options);
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit.breakpoints(), ElementsAre(10));
  EXPECT_NEAR(fit.segments[0].slope, 1, 1e-12);
  EXPECT_NEAR(fit.segments[1].slope, 0, 1e-12);
  EXPECT_NEAR(fit.segments[1].intercept, 5, 1e-12);
  EXPECT_EQ(fit.segments[0].n, 3);
  EXPECT_DOUBLE_EQ(fit(2.5), 2.5);
  EXPECT_DOUBLE_EQ(fit(10), 5);
}

TEST(SegmentedRegression, WeighsByOneOverTheSize) {
  // Normal equations of sum (y - a - b x)^2 / x for x = 1, 2, 4 and y = 1, 2, 5, solved by hand:
  // 7/4 a + 3 b = 13/4 and 3 a + 7 b = 8 give a = -5/13, b = 17/13.
  SegmentedOptions options = with(Objective::weighted);
  options.breakpoints = std::vector<double>();
  const SegmentedFit fit = fit_segmented(cells_of({{1, 1}, {2, 2}, {4, 5}}), options);
  EXPECT_NEAR(fit.segments[0].intercept, -5.0 / 13, 1e-14);
  EXPECT_NEAR(fit.segments[0].slope, 17.0 / 13, 1e-14);
  options.non_negative = true;  // the best line through the origin: b = sum y / sum x = 8/7
  const SegmentedFit bounded = fit_segmented(cells_of({{1, 1}, {2, 2}, {4, 5}}), options);
  EXPECT_EQ(bounded.segments[0].intercept, 0);
  EXPECT_NEAR(bounded.segments[0].slope, 8.0 / 7, 1e-14);
}

TEST(SegmentedRegression, CountsParametersInItsBic) {
  SegmentedOptions options = with(Objective::ols);
  options.breakpoints = {2.5};
  const auto cells = cells_of({{1, 1}, {1, 3}, {2, 2}, {3, 5}, {4, 4}, {4, 6}});
  const SegmentedFit fit = fit_segmented(cells, options);
  // Within sizes 2 + 2; the lines pass through the means. Parameters: two slopes, two intercepts, a breakpoint, a
  // variance.
  EXPECT_NEAR(fit.rss, 4, 1e-12);
  EXPECT_NEAR(fit.bic, 6 * std::log(4.0 / 6) + 6 * std::log(6.0), 1e-12);
}

TEST(SegmentedRegression, DoesNotLoseDigitsFarFromZero) {
  std::vector<std::pair<double, double>> rows;
  for (int i = 0; i < 100; ++i) rows.emplace_back(1e9 + i, 1.0 + (i < 50 ? 1e-6 * i : 1e-4 + 3e-6 * i));
  const SegmentedFit fit = fit_segmented(cells_of(rows), with(Objective::ols));
  ASSERT_THAT(fit.breakpoints(), SizeIs(1));
  EXPECT_NEAR(fit.breakpoints()[0], 1e9 + 49.5, 0.51);
  // Differences of 1e-6 in values near 1: ten digits are left of sixteen, and the spread of the sizes costs none.
  EXPECT_NEAR(fit.segments[0].slope, 1e-6, 1e-15);
  EXPECT_NEAR(fit.segments[1].slope, 3e-6, 1e-15);
}

TEST(SegmentedRegression, JoinsSegmentsIfAsked) {
  core::RandomStream stream({2, core::stream_fit, 0, 0});
  for (const Objective objective : all_objectives) {
    std::vector<std::pair<double, double>> rows;
    for (int i = 0; i < 300; ++i) {
      const double x = std::pow(10, 1 + 4 * stream.uniform());
      const double y = x < 1000 ? 1e-6 + 1e-9 * x : 2e-6 + 6e-9 * (x - 1000);
      rows.emplace_back(x, y * (1 + 0.01 * stream.normal()));
    }
    SegmentedOptions options = with(objective);
    options.continuous = true;
    const SegmentedFit fit = fit_segmented(cells_of(rows), options);
    ASSERT_THAT(fit.segments, SizeIs(2)) << to_string(objective);
    const double at = fit.segments[1].min;
    EXPECT_NEAR(at / 1000, 1, 0.1) << to_string(objective);
    EXPECT_NEAR(fit.segments[0].intercept + fit.segments[0].slope * at, fit(at), 1e-12 * fit(at));
    EXPECT_NEAR(fit.segments[1].slope / 6e-9, 1, 0.02) << to_string(objective);
    EXPECT_EQ(fit.segments[0].n + fit.segments[1].n, 300);
  }
}

TEST(SegmentedRegression, JoinsSegmentsWhereTheFirstBeginsWithMessagesOfNoBytes) {
  std::vector<std::pair<double, double>> rows = {{0, 1}};
  for (int i = 0; i < 100; ++i) rows.insert(rows.end(), {{1, 1e-3}, {2, 1}});
  SegmentedOptions options = with(Objective::log);
  options.continuous = true;
  const SegmentedFit fit = fit_segmented(cells_of(rows), options);  // the least relative errors begin at 0
  ASSERT_THAT(fit.segments, SizeIs(1));
  EXPECT_NEAR(fit.rss / 1992.467132, 1, 1e-3) << "the least of a fine grid";
}

TEST(SegmentedRegression, SaysWhenTheDataCannotSupportIt) {
  EXPECT_EQ(fit_segmented({}).status, SegmentedStatus::no_rows);

  const SegmentedFit one_size = fit_segmented(cells_of({{64, 1e-6}, {64, 4e-6}}));
  EXPECT_EQ(one_size.status, SegmentedStatus::too_few_sizes);
  EXPECT_THAT(one_size.reason, HasSubstr("one distinct size"));
  ASSERT_THAT(one_size.segments, SizeIs(1));
  EXPECT_EQ(one_size.segments[0].slope, 0);
  EXPECT_NEAR(one_size(64), 2e-6, 1e-18);

  const SegmentedFit zero = fit_segmented(cells_of({{0, 1}, {1, 2}, {2, 3}}), with(Objective::weighted));
  EXPECT_EQ(zero.status, SegmentedStatus::bad_values);
  EXPECT_THAT(zero.reason, HasSubstr("size 0"));
}

TEST(SegmentedRegression, TakesSizeZeroWithTheOtherObjectives) {
  std::vector<std::pair<double, double>> rows;
  for (int i = 0; i < 20; ++i) rows.emplace_back(i, 1e-6 + 1e-8 * i);
  for (const Objective objective : {Objective::ols, Objective::log}) {
    const SegmentedFit fit = fit_segmented(cells_of(rows), with(objective));
    ASSERT_TRUE(fit.ok());
    EXPECT_NEAR(fit(0) / 1e-6, 1, 1e-9) << to_string(objective);
  }
}

TEST(SegmentedRegression, RefusesImpossibleOptions) {
  const auto cells = cells_of({{1, 1}, {2, 2}, {3, 3}});
  SegmentedOptions options;
  options.min_sizes = 1;
  EXPECT_THROW(fit_segmented(cells, options), core::DomainError);
  options = {};
  options.max_segments = 0;
  EXPECT_THROW(fit_segmented(cells, options), core::DomainError);
  options = {};
  options.significance = 0;
  EXPECT_THROW(fit_segmented(cells, options), core::DomainError);
  options = {};
  options.breakpoints = {5, 5};
  EXPECT_THROW(fit_segmented(cells, options), core::DomainError);
  options.breakpoints = {std::nan("")};
  EXPECT_THROW(fit_segmented(cells, options), core::DomainError);
  EXPECT_THROW(fit_segmented({cells[1], cells[0]}), core::DomainError);
  EXPECT_THROW(core::from_name<Objective>("likelihood"), core::DomainError);
}

TEST(SegmentedRegression, LeavesOutGivenSegmentsWithoutRows) {
  SegmentedOptions options = with(Objective::ols);
  options.breakpoints = {2.5, 100, 200};
  const SegmentedFit fit = fit_segmented(cells_of({{1, 1}, {2, 2}, {3, 4}, {4, 5}}), options);
  ASSERT_TRUE(fit.ok());
  EXPECT_THAT(fit.breakpoints(), ElementsAre(2.5));
}

TEST(SegmentedRegression, ChoosesMoreBreakpointsWithoutTheTest) {
  const auto cells = cells_of(test::memcpy_rows(200, test::MemcpyNoise::homoscedastic, 4));
  SegmentedOptions by_bic;
  by_bic.significance = 1;
  const SegmentedFit least_bic = fit_segmented(cells, by_bic), tested = fit_segmented(cells);
  EXPECT_LE(least_bic.bic, tested.bic);
  EXPECT_GE(least_bic.segments.size(), tested.segments.size());
}

}  // namespace
}  // namespace hplcast::fit
