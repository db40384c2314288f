#include "hplcast/study/factor_effects.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/tune.hpp"

namespace hplcast::study {
namespace {

const AnovaRow& row(const Anova& result, const std::string& name) {
  for (const AnovaRow& candidate : result.rows) {
    if (candidate.name == name) return candidate;
  }
  throw core::DomainError("row", name, "one that is there");
}

TEST(Anova, FindsTheEffectsThatWerePutIn) {
  // log rate = a + b + c, without interaction: shares are those of the sums of squares, worked out by hand.
  std::vector<Configuration> factors;
  std::vector<double> rates;
  for (const double a : {-0.3, 0.3}) {
    for (const double b : {-0.1, 0.0, 0.1}) {
      for (const double c : {-0.02, 0.02}) {
        factors.push_back({{"A", std::to_string(a)}, {"B", std::to_string(b)}, {"C", std::to_string(c)}});
        rates.push_back(100 * std::exp(a + b + c));
      }
    }
  }
  const Anova result = anova(factors, rates);
  EXPECT_TRUE(result.balanced);
  EXPECT_EQ(result.rows.front().name, "A");
  const double a = 12 * 0.09, b = 8 * 0.01, c = 12 * 0.0004;
  EXPECT_NEAR(row(result, "A").share, a / (a + b + c), 1e-12);
  EXPECT_NEAR(row(result, "B").share, b / (a + b + c), 1e-12);
  EXPECT_EQ(row(result, "B").freedom, 2);
  EXPECT_NEAR(row(result, "A x B").share, 0, 1e-12);
  EXPECT_NEAR(row(result, "A").effects.at(std::to_string(0.3)), std::exp(0.3) - 1, 1e-12);
}

TEST(Anova, TestsAgainstTheResidual) {
  // Montgomery's form of a one-way layout, by hand: means -0.1, 0.1, within-group deviations of 0.05.
  const std::vector<Configuration> factors = {{{"A", "x"}}, {{"A", "x"}}, {{"A", "y"}}, {{"A", "y"}}};
  const Anova result = anova(factors, {std::exp(-0.15), std::exp(-0.05), std::exp(0.05), std::exp(0.15)});
  EXPECT_NEAR(row(result, "A").f, 0.04 / (0.01 / 2), 1e-9);    // F(1, 2) = 8
  EXPECT_NEAR(row(result, "A").p_value, 0.10557280900, 1e-9);  // 1 - sqrt(8 / (8 + 2))
}

TEST(Anova, LeavesOutFactorsWithOneLevelAndSaysWhenCellsAreMissing) {
  const Anova result = anova({{{"A", "x"}, {"B", "1"}}, {{"A", "x"}, {"B", "2"}}, {{"A", "x"}, {"B", "2"}}}, {1, 2, 2});
  EXPECT_EQ(result.rows.size(), 1U);
  EXPECT_FALSE(result.balanced);
  EXPECT_THROW(anova({{}}, {0}), core::DomainError);
  EXPECT_TRUE(anova({}, {}).rows.empty());
}

TEST(Tune, TakesNFromTheMemoryAndGridsNearSquare) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"n-[1-4]", 8, 1, {}, 8e9});
  // 0.8 x 32 GB / 8 bytes = 3.2e9 numbers, a square of 56568 rows.
  EXPECT_EQ(size_from_memory(cluster, 32, 0.8, 128), 56568 / 128 * 128);
  EXPECT_EQ(near_square_grids(960, 2), (std::vector<std::pair<int, int>>{{30, 32}, {24, 40}}));
  EXPECT_EQ(near_square_grids(7, 3), (std::vector<std::pair<int, int>>{{1, 7}}));
  cluster.hosts = core::Hosts::make({"n-[1-4]", 8, 1, {}, 0});
  EXPECT_THROW(size_from_memory(cluster, 32, 0.8, 128), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
