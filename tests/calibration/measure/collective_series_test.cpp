#include "hplcast/calibration/measure_detours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {
namespace {

TEST(CollectiveSeries, HasEveryLevelAsOftenAsAskedFor) {
  const std::vector<SeriesRun> runs = make_series({{0.01, 0.003, 0.001, 0.0001}, 7, 3, 1});
  std::map<double, int> counts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].warm_up, i < 3);
    if (!runs[i].warm_up) ++counts[runs[i].level];
  }
  EXPECT_EQ(counts, (std::map<double, int>{{0, 14}, {0.01, 7}, {0.003, 7}, {0.001, 7}, {0.0001, 7}}));
}

TEST(CollectiveSeries, MixesCleanRunsWithTheOthersForWhateverSeed) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const std::vector<SeriesRun> runs = make_series({{0.01}, 4, 0, seed});
    // In blocks: at most two clean ones follow each other, and the first half has as many of them as the second.
    int in_a_row = 0, in_first_half = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      in_a_row = runs[i].level == 0 ? in_a_row + 1 : 0;
      EXPECT_LE(in_a_row, 2);
      in_first_half += runs[i].level == 0 && i < runs.size() / 2 ? 1 : 0;
    }
    EXPECT_EQ(in_first_half, 2);
  }
}

TEST(CollectiveSeries, IsAnotherOneForAnotherSeed) {
  const auto levels = [](std::uint64_t seed) {
    std::vector<double> result;
    for (const SeriesRun& run : make_series({{0.01, 0.02}, 10, 0, seed})) result.push_back(run.level);
    return result;
  };
  EXPECT_EQ(levels(1), levels(1));
  EXPECT_NE(levels(1), levels(2));
}

TEST(CollectiveSeries, RefusesWhatIsNoStudy) {
  EXPECT_THROW(make_series({{}, 2, 0, 1}), core::DomainError);
  EXPECT_THROW(make_series({{1}, 2, 0, 1}), core::DomainError);
  EXPECT_THROW(make_series({{0.1, 0.1}, 2, 0, 1}), core::DomainError);
  EXPECT_THROW(make_series({{0.1}, 1, 0, 1}), core::DomainError);
  EXPECT_THROW(make_series({{0.1}, 2, -1, 1}), core::DomainError);
}

}  // namespace
}  // namespace hplcast::calibration
