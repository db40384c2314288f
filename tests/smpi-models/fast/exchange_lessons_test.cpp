#include "smpi-models/fast/column_exchange.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hplcast::smpi_models {
namespace {

TEST(ExchangeLessons, TeachTheLatestExcessOfEachPart) {
  ExchangeLessons lessons;
  EXPECT_EQ(lessons.excess_s(0), 0);
  lessons.add(0, {2, 0.5});
  lessons.add(0, {2, 0.25});
  lessons.add(1, {2, -0.125});
  EXPECT_EQ(lessons.excess_s(0), 0.25);
  EXPECT_EQ(lessons.excess_s(1), -0.125);
  EXPECT_EQ(lessons.excess_s(2), 0);
}

TEST(ExchangeLessons, LinksThatHoldNobodyUpFeelAllBytes) {
  ExchangeLessons lessons;
  EXPECT_EQ(lessons.load_share(0), 1);
  lessons.add(0, {1, 0});
  lessons.add(0, {1, -0.1});  // of two messages one may draw a shorter time than expected
  EXPECT_EQ(lessons.load_share(0), 1);
}

TEST(ExchangeLessons, LinksThatAreAlwaysBusyFeelAllBytes) {
  ExchangeLessons lessons;
  for (int i = 0; i < 8; ++i) lessons.add(0, {4, 3});  // t = 1, x = 3, p = 1
  EXPECT_DOUBLE_EQ(lessons.load_share(0), 1);
}

TEST(ExchangeLessons, BusyLinksFeelTheBytesOfTheExchangesThatMeetThem) {
  ExchangeLessons lessons;
  for (int i = 0; i < 4; ++i) {
    lessons.add(0, {1, 0});  // t = 1
    lessons.add(0, {4, 3});  // x = 3, p = 1/2
  }
  // (t + p x) / (t + x): busy for 4/5 of the time, they get half of the bytes.
  EXPECT_DOUBLE_EQ(lessons.load_share(0), 2.5 / 4);
  EXPECT_DOUBLE_EQ(lessons.load_share(1), 1);
}

TEST(ExchangeLessons, ScatterOfTheSamplesIsTheErrorOfWhatTheyStandFor) {
  ExchangeLessons lessons;
  lessons.count_computed(1000);
  EXPECT_EQ(lessons.error_95_s(), 0);
  for (int i = 0; i < 101; ++i) lessons.add(0, {1, i % 2 == 0 ? 0.1 : 0.3});
  // A hundred differences of 0.2: a standard deviation of 0.2 / sqrt(2), of the mean a tenth of it.
  EXPECT_NEAR(lessons.error_95_s(), 2 * 1000 * 0.2 / std::sqrt(2.0) / 10, 1e-9);
}

TEST(ExchangeLessons, DifferencesBetweenPartsAreNoScatter) {
  ExchangeLessons lessons;
  lessons.count_computed(1000);
  for (int i = 0; i < 10; ++i) {
    lessons.add(0, {1, 0.1});
    lessons.add(1, {1, 0.7});
  }
  EXPECT_EQ(lessons.error_95_s(), 0);
}

}  // namespace
}  // namespace hplcast::smpi_models
