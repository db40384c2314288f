#include "hplcast/study/resolve.hpp"

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

constexpr SimulationMode exact = SimulationMode::exact, fast = SimulationMode::fast;

const auto block_size = ::testing::StartsWith("--cfg=smpi/shared-malloc-blocksize:");

SimulationNeeds needs_of(const core::HplParameters& parameters, SimulationMode mode) {
  return SimulationNeeds::of_all_panels(parameters, mode);
}

TEST(SimulationNeeds, CountMessagesAsHplSendsThem) {
  // One exchange a column: 32 ranks, 5 steps. 391 panels: 32 rows of 31 messages, 32 columns of 32 * 5, of which the
  // last 31 panels have ever fewer: 15.5 panels less in the mean.
  const double others = 391.0 * 32 * 31 + (391 - 15.5) * 32 * 32 * 5;
  const SimulationNeeds all = needs_of(parameters(50000, 128, 32, 32), exact);
  EXPECT_DOUBLE_EQ(all.simulated_messages, 50000.0 * 32 * 5 + others);
  const SimulationNeeds sampled = needs_of(parameters(50000, 128, 32, 32), fast);
  EXPECT_DOUBLE_EQ(sampled.simulated_messages, 50000.0 * 32 * 5 / 32 + others);
  EXPECT_LT(sampled.wall_s, all.wall_s);
  // 8 of 12 rows in 3 steps of pairs. Of the other 4 each sends and gets a message, and one more: the first current
  // row.
  EXPECT_DOUBLE_EQ(needs_of(parameters(1280, 128, 12, 1), exact).simulated_messages, (1280 + 10) * (8.0 * 3 + 4 * 3));
}

TEST(SimulationNeeds, OfTheLongSwapHaveTheMessagesThatRoll) {
  core::HplParameters p = parameters(50000, 128, 32, 32);
  const SimulationNeeds exchange = needs_of(p, fast);
  p.SWAP = 1;
  const SimulationNeeds rolled = needs_of(p, fast);
  const double more = (391 - 15.5) * 32 * 32 * 31;
  EXPECT_NEAR(rolled.simulated_messages - exchange.simulated_messages, more, 1e-9 * more);
  EXPECT_NEAR(rolled.wall_s - exchange.wall_s, 1.7e-6 * more, 0.2e-6 * more);
  p.SWAP = 2;
  p.swap_threshold = 50000 / 32 / 4;  // long until a quarter of the columns is left
  EXPECT_NEAR(needs_of(p, fast).simulated_messages - exchange.simulated_messages, 0.75 * more, 1e-3 * more);
  p.swap_threshold = 50000;
  EXPECT_EQ(needs_of(p, fast).simulated_messages, exchange.simulated_messages);
}

// As counted in windows of N = 250,000 on 32 x 32: 31,744 and 29,760 more per panel (2026-11-27).
TEST(SimulationNeeds, OfLongBroadcastsHaveTheMessagesThatRoll) {
  core::HplParameters p = parameters(250000, 256, 32, 32);
  const auto messages_of = [&](int bcast) {
    p.BCAST = bcast;
    return needs_of(p, fast).simulated_messages;
  };
  EXPECT_NEAR((messages_of(4) - messages_of(2)) / 977, 31744, 1e-6);
  EXPECT_NEAR((messages_of(5) - messages_of(2)) / 977, 29760, 1e-6);
  // Seven windows with 55.7 % of the panels took 28 s of CPU time on a core of Zen 5, beside other work (2026-11-29).
  p.BCAST = 4;
  EXPECT_NEAR(0.557 * needs_of(p, fast).wall_s, 28, 0.3 * 28);
}

// Idle machine, fast mode, all panels: 5.5 and 11.1 s on 32 x 32; 206 MB (64 x 64, 16 panels of NB 1024).
TEST(SimulationNeeds, AreThoseThatWereMeasured) {
  core::HplParameters p = parameters(50000, 128, 32, 32);
  p.DEPTH = 1;
  EXPECT_NEAR(needs_of(p, fast).wall_s, 5.5, 0.2 * 5.5);
  p.N = 100000;
  EXPECT_NEAR(needs_of(p, fast).wall_s, 11.1, 0.2 * 11.1);
  EXPECT_NEAR(needs_of(parameters(16384, 1024, 64, 64), fast).memory_bytes, 206e6, 0.5 * 206e6);
  // Windows of 656 panels took three times as long, 245 s, on a slower machine before simulations became faster.
  // Nine windows of 1347 panels: 25.7 min.
  const auto windows_s = [&](core::HplParameters many, double panels) {
    many.DEPTH = 1;
    many.SWAP = 0;
    return needs_of(many, fast).wall_s * panels * static_cast<double>(many.NB) / static_cast<double>(many.N);
  };
  EXPECT_NEAR(windows_s(parameters(4000000, 1024, 64, 64), 656), 245 / 3.0, 0.3 * 245 / 3.0);
  EXPECT_NEAR(windows_s(parameters(8000000, 512, 160, 128), 1347), 1542, 0.3 * 1542);
}

// Process columns that have no block of the matrix left swap no rows, and hardly probe (2026-11-29, CPU time, beside
// other work; 160 x 128 on the idle machine).
TEST(SimulationNeeds, OfFewPanelsAreThoseOfTheProcessColumnsThatHaveBlocks) {
  core::HplParameters p = parameters(8192, 512, 160, 128);
  EXPECT_NEAR(needs_of(p, fast).wall_s, 5.7, 0.25 * 5.7);
  p.P = p.Q = 64;
  EXPECT_NEAR(needs_of(p, fast).wall_s, 0.9, 0.25 * 0.9);
  p.SWAP = 1;
  EXPECT_NEAR(needs_of(p, fast).wall_s, 2.1, 0.25 * 2.1);
  // Messages that statistics of simulations have, exact mode: 32 panels on 16 process columns, and 8.
  p = parameters(4096, 128, 16, 16);
  EXPECT_NEAR(needs_of(p, exact).simulated_messages, 296732, 0.02 * 296732);
  p.SWAP = 1;
  EXPECT_NEAR(needs_of(p, exact).simulated_messages, 382702, 0.02 * 382702);
  p.N = 1024;
  EXPECT_NEAR(needs_of(p, exact).simulated_messages, 80259, 0.04 * 80259);
  p.N = 1;
  p.SWAP = 2;
  EXPECT_GT(needs_of(p, exact).wall_s, 0);
}

TEST(SimulationNeeds, AreFiniteAndCheapForOneRank) {
  const SimulationNeeds needs = needs_of(parameters(1000, 128, 1, 1), exact);
  EXPECT_EQ(needs.simulated_messages, 0);
  EXPECT_LT(needs.wall_s, 1);
  EXPECT_THAT(MemorySettings::make(needs, 65530).options, ElementsAre(block_size));
}

TEST(SimulationNeeds, OfLargeMachinesFitA64BitProcess) {
  // More than 2^31 elements a rank, 1e13 in all.
  const SimulationNeeds needs = needs_of(parameters(4000000, 1024, 64, 64), fast);
  EXPECT_GT(needs.address_bytes, 8.0 * 62500 * 62500);
  EXPECT_LT(needs.address_bytes, 128e12);
  EXPECT_GT(needs.memory_maps, 0);
  EXPECT_LE(needs.block_bytes, 16 * 1024 * 1024);
}

TEST(MemorySettings, LeaveOutGuardPagesIfManyRanksHaveTooManyMaps) {
  constexpr long usual_max_map_count = 65530;
  const auto options = [](const SimulationNeeds& needs, long max_map_count) {
    return MemorySettings::make(needs, max_map_count).options;
  };
  EXPECT_THAT(options(needs_of(parameters(4000000, 512, 160, 160), fast), usual_max_map_count),
              ElementsAre(block_size));
  const SimulationNeeds many = needs_of(parameters(4000000, 512, 273, 273), fast);
  EXPECT_THAT(options(many, usual_max_map_count),
              ElementsAre("--cfg=contexts/guard-size:0", "--cfg=contexts/stack-size:256", block_size));
  EXPECT_THAT(options(many, 0), ElementsAre(block_size));  // no limit, or not known
  EXPECT_THAT(options(many, 4 * usual_max_map_count), ElementsAre(block_size));
}

TEST(Shortages, AreNoneWhereNothingIsLimited) {
  EXPECT_THAT(shortages(needs_of(parameters(500000, 128, 32, 32), exact), {}), IsEmpty());
}

TEST(Shortages, SayWhatToDo) {
  const SimulationNeeds needs = needs_of(parameters(500000, 128, 32, 32), exact);
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
  needs.most_wall_s = 600;
  EXPECT_EQ(to_string(needs), "about 4.0 min, at most 10 min, 120 MiB of memory, 2.4 million messages");
}

}  // namespace
}  // namespace hplcast::study
