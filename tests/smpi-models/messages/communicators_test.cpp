#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/smpi-models/simulation.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::smpi_models {
namespace {

using ::testing::Each;
using ::testing::SizeIs;
using tests::example_cluster;
using tests::numbers;

constexpr int ranks = 8;

core::CommandResult simulated(const std::string& name) {
  tests::Simulation simulation{example_cluster(true), ranks, {}, tests::PlatformKind::library};
  simulation.program = HPLCAST_COMMUNICATORS_PROBE;
  return simulate(simulation, name);
}

TEST(Communicators, HaveTheRanksOfSmpisInTheSameOrder) {
  const core::CommandResult result = simulated("communicators");
  ASSERT_EQ(result.status, 0) << result.output;
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_THAT(numbers(result.output, rank, "world"), Each(1));
    EXPECT_THAT(numbers(result.output, rank, "halves"), Each(1));
    const bool in_a_half = rank < ranks - 1;
    EXPECT_THAT(numbers(result.output, rank, "threes"), SizeIs(in_a_half ? 1 : 0));
    EXPECT_THAT(numbers(result.output, rank, "threes"), Each(1));
    EXPECT_THAT(numbers(result.output, rank, "again"), SizeIs(3));
    EXPECT_THAT(numbers(result.output, rank, "again"), Each(1));
  }
}

TEST(Communicators, AreSplitWhenTheLastRankComes) {
  const core::CommandResult result = simulated("communicators_in_time");
  ASSERT_EQ(result.status, 0) << result.output;
  for (int rank = 0; rank < ranks; ++rank) {
    // Rank r comes at 1000 + r seconds; the clock at 1000 s rounds to 1.2e-13.
    EXPECT_NEAR(numbers(result.output, rank, "leaves").at(0), 1000 + ranks - 1, 1e-12);
  }
}

}  // namespace
}  // namespace hplcast::smpi_models
