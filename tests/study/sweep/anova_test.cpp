#include "hplcast/study/factor_effects.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
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

/// Half of the 24 combinations of two factors, near a diagonal: each factor seems to do what the other one does.
std::vector<Configuration> unbalanced_rows() {
  std::vector<Configuration> rows;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 6; ++b)
      if (std::abs(3 * a - 2 * b) < 4) rows.push_back({{"A", std::to_string(a)}, {"B", std::to_string(b)}});
  return rows;
}

TEST(Anova, OfUnbalancedRowsGivesAFactorOnlyWhatOthersDoNotExplain) {
  const std::vector<Configuration> rows = unbalanced_rows();
  std::vector<double> rates;
  for (const Configuration& one : rows) rates.push_back(100 * std::exp(0.1 * std::stod(one.front().value)));
  const Anova result = anova(rows, rates);
  EXPECT_FALSE(result.balanced);
  EXPECT_EQ(row(result, "B").freedom, 5);
  EXPECT_NEAR(row(result, "B").share, 0, 1e-12);  // raw means give it two thirds and more
  for (const auto& [level, effect] : row(result, "B").effects) EXPECT_NEAR(effect, 0, 1e-12) << level;
  const auto& effects = row(result, "A").effects;
  EXPECT_NEAR((1 + effects.at("3")) / (1 + effects.at("0")), std::exp(0.3), 1e-9);
  EXPECT_NEAR(result.residual_share, 0, 1e-12);
}

// A factor without effect: 100 +- 10 of 2000 p-values are below 0.05; four standard deviations.
TEST(Anova, OfUnbalancedRowsHasRightProbabilities) {
  const std::vector<Configuration> rows = unbalanced_rows();
  core::RandomStream random({1, core::stream_design, 0, 0, 0});
  int below = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> rates;
    for (const Configuration& one : rows)
      rates.push_back(std::exp(0.1 * std::stod(one.front().value) + 0.02 * random.normal()));
    const Anova result = anova(rows, rates);
    ASSERT_GT(row(result, "B").f, 0);
    below += row(result, "B").p_value < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(below, 100, 40);
}

TEST(Tune, TakesNFromTheMemoryAndGridsNearSquare) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"n-[1-4]", 8, 1, {}, 8e9});
  // 0.8 x 32 GB / 8 bytes = 3.2e9 numbers, a square of 56568 rows.
  EXPECT_EQ(size_from_memory(cluster, 32, 0.8, 128), 56568 / 128 * 128);
  // 12 ranks: the host that is full holds 8 of them, and may hold no more than 6.4 GB.
  EXPECT_EQ(size_from_memory(cluster, 12, 0.8, 1), 34641);  // sqrt(0.8 x 8e9 x 12 / 8 / 8)
  EXPECT_EQ(near_square_grids(960, 2), (std::vector<std::pair<int, int>>{{30, 32}, {24, 40}}));
  EXPECT_EQ(near_square_grids(7, 3), (std::vector<std::pair<int, int>>{{1, 7}}));
  // 20 ranks: the last four are on hosts of two, with 400 MB for each.
  core::Hosts::Values hosts{"n-[1-4]", 8, 1, {}, 8e9};
  hosts.kinds = {{"small", "n-[3-4]", 2, 1, {}, 8e8, 1}};
  cluster.hosts = core::Hosts::make(hosts);
  EXPECT_EQ(size_from_memory(cluster, 20, 0.8, 128), 28284 / 128 * 128);  // sqrt(0.8 x 8e9 / 8)
  cluster.hosts = core::Hosts::make({"n-[1-4]", 8, 1, {}, 0});
  EXPECT_THROW(size_from_memory(cluster, 32, 0.8, 128), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
