#include "hplcast/study/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hplcast::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

core::HplParameters parameters(long long N, int NB, int P, int Q) {
  core::HplParameters result;
  result.N = N;
  result.NB = NB;
  result.P = P;
  result.Q = Q;
  result.SWAP = 0;
  return result;
}

TEST(SimulationNeeds, CountMessagesAsHplSendsThem) {
  // One exchange a column: 32 ranks, 5 steps. 391 panels: 32 rows of 31 messages, 32 columns of 32 * 5.
  const SimulationNeeds exact = simulation_needs(parameters(50000, 128, 32, 32), false);
  EXPECT_DOUBLE_EQ(exact.messages, 50000.0 * 32 * 5 + 391.0 * (32 * 31 + 32 * 32 * 5));
  EXPECT_EQ(exact.simulated_messages, exact.messages);
  const SimulationNeeds fast = simulation_needs(parameters(50000, 128, 32, 32), true);
  EXPECT_DOUBLE_EQ(fast.simulated_messages, 50000.0 * 32 * 5 / 32 + 391.0 * (32 * 31 + 32 * 32 * 5));
  EXPECT_LT(fast.wall_s, exact.wall_s);
}

TEST(SimulationNeeds, OfTheLongSwapHaveTheMessagesThatRoll) {
  core::HplParameters p = parameters(50000, 128, 32, 32);
  const SimulationNeeds exchange = simulation_needs(p, true);
  p.SWAP = 1;
  const SimulationNeeds rolled = simulation_needs(p, true);
  const double more = 391.0 * 32 * 32 * 31;
  EXPECT_DOUBLE_EQ(rolled.messages - exchange.messages, more);
  EXPECT_NEAR(rolled.wall_s - exchange.wall_s, 5e-6 * more, 1e-6 * more);  // measured 3 to 6 us
  p.SWAP = 2;
  p.swap_threshold = 50000 / 32 / 4;  // long until a quarter of the columns is left
  EXPECT_NEAR(simulation_needs(p, true).messages - exchange.messages, 0.75 * more, 1e-3 * more);
  p.swap_threshold = 50000;
  EXPECT_EQ(simulation_needs(p, true).messages, exchange.messages);
}

TEST(SimulationNeeds, AreFiniteAndCheapForOneRank) {
  const SimulationNeeds needs = simulation_needs(parameters(1000, 128, 1, 1), false);
  EXPECT_EQ(needs.messages, 0);
  EXPECT_LT(needs.wall_s, 1);
  EXPECT_THAT(stack_options(needs, 65530), IsEmpty());
}

TEST(SimulationNeeds, OfLargeMachinesFitA64BitProcess) {
  // More than 2^31 elements a rank, 1e13 in all.
  const SimulationNeeds needs = simulation_needs(parameters(4000000, 1024, 64, 64), true);
  EXPECT_GT(needs.address_bytes, 8.0 * 62500 * 62500);
  EXPECT_LT(needs.address_bytes, 128e12);
  EXPECT_GT(needs.memory_maps, 0);
  EXPECT_LE(needs.block_bytes, 16 * 1024 * 1024);
}

TEST(SimulationNeeds, GuardPagesOfManyRanksAreTooManyMaps) {
  constexpr long usual_max_map_count = 65530;
  EXPECT_THAT(stack_options(simulation_needs(parameters(4000000, 512, 160, 160), true), usual_max_map_count),
              IsEmpty());
  const SimulationNeeds many = simulation_needs(parameters(4000000, 512, 273, 273), true);
  EXPECT_THAT(stack_options(many, usual_max_map_count),
              ElementsAre("--cfg=contexts/guard-size:0", "--cfg=contexts/stack-size:256"));
  EXPECT_THAT(stack_options(many, 0), IsEmpty());  // no limit, or not known
  EXPECT_THAT(stack_options(many, 4 * usual_max_map_count), IsEmpty());
}

TEST(Shortages, AreNoneWhereNothingIsLimited) {
  EXPECT_THAT(shortages(simulation_needs(parameters(500000, 128, 32, 32), false), {}), IsEmpty());
}

TEST(Shortages, SayWhatToDo) {
  const SimulationNeeds needs = simulation_needs(parameters(500000, 128, 32, 32), false);
  SimulationLimits limits;
  limits.available_bytes = limits.address_bytes = limits.commit_bytes = limits.stack_bytes = limits.disk_bytes = 1e5;
  EXPECT_THAT(shortages(needs, limits),
              ElementsAre(HasSubstr("more memory"), HasSubstr("ulimit -v"), HasSubstr("vm.overcommit_memory=0"),
                          HasSubstr("ulimit -s"), HasSubstr("TMPDIR")));
}

TEST(SimulationNeeds, AreToldInOneLine) {
  SimulationNeeds needs;
  needs.wall_s = 240;
  needs.memory_bytes = 120.0 * 1024 * 1024;
  needs.simulated_messages = 2.4e6;
  EXPECT_EQ(to_string(needs), "about 4.0 min, 120 MiB of memory, 2.4 million messages");
}

}  // namespace
}  // namespace hplcast::study
