#include "hplcast/study/factor_effects.hpp"

#include <gtest/gtest.h>

namespace hplcast::study {
namespace {

Configuration configuration(int a, int b, int c) {
  return {{"a", std::to_string(a)}, {"b", std::to_string(b)}, {"c", std::to_string(c)}};
}

/// Effects of -1 to 1 of a, half as much of b, a tenth of c.
double truth(int a, int b, int c) {
  return 10 + (a - 1) + 0.5 * (b - 1) + 0.1 * (c - 1);
}

TEST(AdditiveModel, PutsCombinationsThatWereNotTriedInOrder) {
  std::vector<Configuration> tried;
  std::vector<double> values;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 3; ++c) {
        if ((a + b + c) % 3 == 0) continue;  // a third is not tried, the best among it
        tried.push_back(configuration(a, b, c));
        values.push_back(truth(a, b, c));
      }
    }
  }
  const AdditiveModel model(tried, values);
  const double best = model.at(configuration(2, 2, 2));
  for (const Configuration& other : tried) EXPECT_LT(model.at(other), best);
  // Each level occurs 6 times: effects are shrunk by a seventh.
  EXPECT_NEAR(best, 10 + 6.0 / 7 * 1.6, 0.05);
  EXPECT_GT(model.at(configuration(0, 2, 2)), model.at(configuration(0, 1, 2)));
}

TEST(AdditiveModel, KnowsNothingOfLevelsThatDidNotOccur) {
  const AdditiveModel model({configuration(0, 0, 0), configuration(1, 0, 0)}, {1, 3});
  EXPECT_DOUBLE_EQ(model.at(configuration(7, 7, 7)), 2);
  EXPECT_DOUBLE_EQ(AdditiveModel({}, {}).at({}), 0);
}

}  // namespace
}  // namespace hplcast::study
