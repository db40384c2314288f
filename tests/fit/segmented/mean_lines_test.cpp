// Lines whose sums are right: fit_means().
#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/segmented_regression.hpp"

namespace hplcast::fit {
namespace {

/// 50 rows of each of 40 sizes from 1 to 1e6, log-normal with this standard deviation of the logarithm and mean
/// `expected(size)`.
template <typename Expected>
std::vector<SizeCell> scattered(double sd, Expected expected) {
  core::RandomStream stream({3, core::stream_fit, 0, 0});
  SamplesBySize samples;
  for (int i = 0; i < 40; ++i) {
    const double size = std::round(std::pow(10, 6 * i / 39.0));
    for (int row = 0; row < 50; ++row) samples.add(size, expected(size) * std::exp(sd * stream.normal() - sd * sd / 2));
  }
  return samples.cells();
}

double mean_ratio(const std::vector<SizeCell>& cells, const std::vector<FittedSegment>& segments, double from,
                  double to) {
  double sum = 0, rows = 0;
  for (const SizeCell& cell : cells) {
    if (cell.size < from || cell.size >= to) continue;
    sum += static_cast<double>(cell.rows) * cell.mean / segment_at(segments, cell.size)(cell.size);
    rows += static_cast<double>(cell.rows);
  }
  return sum / rows;
}

std::vector<FittedSegment> starts(std::initializer_list<double> at) {
  std::vector<FittedSegment> segments;
  for (const double min : at) {
    segments.emplace_back();
    segments.back().min = min;
  }
  return segments;
}

TEST(MeanLines, KeepTheMeanOfEachSegmentWhereLogarithmsLoseIt) {
  const auto truth = [](double size) { return size < 1e4 ? 1e-6 + 1e-9 * size : 5e-6 + 4e-10 * size; };
  const std::vector<SizeCell> cells = scattered(0.8, truth);
  const std::vector<FittedSegment> lines = fit_means(cells, starts({0, 1e4}));
  EXPECT_NEAR(mean_ratio(cells, lines, 0, 1e4), 1, 1e-9);  // exact but for the end of the iteration
  EXPECT_NEAR(mean_ratio(cells, lines, 1e4, 1e9), 1, 1e-9);
  // exp(-0.8^2 / 2) = 0.73 is what a fit of logarithms gives. A mean of 1300 rows has a standard error of 2.6 %.
  for (const double size : {10.0, 1e3, 1e5, 1e6}) EXPECT_NEAR(segment_at(lines, size)(size) / truth(size), 1, 0.12);
}

TEST(MeanLines, RecoverALineWithoutScatterAtAllScales) {
  for (const double unit : {1e-12, 1.0, 1e9}) {
    const auto truth = [&](double size) { return unit * (3 + 1e-3 * size); };
    const std::vector<FittedSegment> lines = fit_means(scattered(0, truth), starts({0}));
    EXPECT_NEAR(lines[0].intercept / unit, 3, 1e-9);
    EXPECT_NEAR(lines[0].slope / unit, 1e-3, 1e-12);
    EXPECT_EQ(lines[0].n, 2000);
  }
}

TEST(MeanLines, KeepTheMeanOnTheBounds) {
  const auto falls = [](double size) { return 1e-6 / (1 + 1e-3 * size); };
  const auto bends = [](double size) { return 1e-9 * size * std::sqrt(size); };
  const std::vector<SizeCell> flat = scattered(0.3, falls), steep = scattered(0.3, bends);
  const std::vector<FittedSegment> constant = fit_means(flat, starts({0})),
                                   through_zero = fit_means(steep, starts({0}));
  EXPECT_EQ(constant[0].slope, 0);
  EXPECT_NEAR(mean_ratio(flat, constant, 0, 1e9), 1, 1e-9);
  EXPECT_EQ(through_zero[0].intercept, 0);
  EXPECT_NEAR(mean_ratio(steep, through_zero, 0, 1e9), 1, 1e-9);
}

TEST(MeanLines, LeaveSegmentsWithoutRowsAlone) {
  std::vector<FittedSegment> segments = starts({0, 1e8});
  segments[1].slope = 7;
  const std::vector<FittedSegment> lines = fit_means(scattered(0.1, [](double) { return 1e-6; }), segments);
  EXPECT_EQ(lines[1].slope, 7);
  EXPECT_NEAR(lines[0].intercept, 1e-6, 3e-8);  // 2000 rows of 10 %: 0.2 %, and what of it the slope takes
}

TEST(MeanLines, OfMessagesWithoutBytesAreNotZero) {
  SamplesBySize samples;
  samples.add(0, 1e-6);
  samples.add(1000, 5e-6);
  samples.add(2000, 90e-6);
  const std::vector<FittedSegment> lines = fit_means(samples.cells(), starts({0}));
  EXPECT_NEAR(mean_ratio(samples.cells(), lines, 0, 1e9), 1, 1e-9);
}

}  // namespace
}  // namespace hplcast::fit
