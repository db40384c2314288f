#include "hplcast/calibration/mpi_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

const std::vector<std::string> two_hosts{"a", "a", "b", "b"};

/// "0>1 local | 0>2 remote": turns in order, pairs of a turn separated by commas.
std::string text(const std::vector<MpiTurn>& turns) {
  std::string result;
  for (const MpiTurn& turn : turns) {
    if (!result.empty()) result += " | ";
    for (std::size_t i = 0; i < turn.size(); ++i) {
      result += (i == 0 ? "" : ", ") + std::to_string(turn[i].initiator) + ">" + std::to_string(turn[i].responder) +
                " " + turn[i].scope;
    }
  }
  return result;
}

TEST(ChooseTurns, PairIsRankZeroWithTheFirstOfEachScope) {
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::pair, PeerChoice::any)), "0>1 local | 0>2 remote");
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::pair, PeerChoice::both)), "0>1 local | 0>2 remote");
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::pair, PeerChoice::remote)), "0>2 remote");
  EXPECT_EQ(text(choose_turns({"a", "b"}, MpiPattern::pair, PeerChoice::any)), "0>1 remote");
}

TEST(ChooseTurns, RingIsEveryRankWithTheNext) {
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::ring, PeerChoice::any)),
            "0>1 local | 1>2 remote | 2>3 local | 3>0 remote");
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::ring, PeerChoice::local)), "0>1 local | 2>3 local");
}

TEST(ChooseTurns, SaturatedPairsAreDisjointAndSimultaneous) {
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::saturated, PeerChoice::any)), "0>2 remote, 1>3 remote");
  EXPECT_EQ(text(choose_turns(two_hosts, MpiPattern::saturated, PeerChoice::local)), "0>1 local, 2>3 local");
  EXPECT_EQ(text(choose_turns({"a", "b", "a", "b", "a"}, MpiPattern::saturated, PeerChoice::local)),
            "0>2 local, 1>3 local");
}

/// Each pair of the ranks once; nobody twice in a round.
void expect_round_robin(const std::vector<MpiTurn>& turns, std::size_t places) {
  std::set<std::pair<int, int>> met;
  for (const MpiTurn& turn : turns) {
    std::set<int> busy;
    for (const MpiPair& pair : turn) {
      EXPECT_TRUE(busy.insert(pair.initiator).second && busy.insert(pair.responder).second);
      EXPECT_TRUE(met.insert(std::minmax(pair.initiator, pair.responder)).second);
    }
    EXPECT_EQ(turn.size(), places / 2) << "side by side";
  }
  EXPECT_EQ(met.size(), places * (places - 1) / 2);
  EXPECT_EQ(turns.size(), places - (places % 2 == 0 ? 1 : 0));
}

TEST(ChooseTurns, AllPairsAreARoundRobinOfTheHosts) {
  for (const std::size_t places : {2, 3, 4, 5, 8, 9, 64}) {
    std::vector<std::string> hosts, one_host(places, "a");
    for (std::size_t i = 0; i < 2 * places; ++i) hosts.push_back("h" + std::to_string(i / 2));
    const std::vector<MpiTurn> turns = choose_turns(hosts, MpiPattern::all_pairs, PeerChoice::any);
    expect_round_robin(turns, places);
    EXPECT_EQ(turns.front().front().scope, "remote");
    for (const MpiPair& pair : turns.front()) EXPECT_EQ((pair.initiator + pair.responder) % 2, 0) << "first ranks";
    expect_round_robin(choose_turns(one_host, MpiPattern::all_pairs, PeerChoice::local), places);
  }
  EXPECT_THAT(error_in([] {
                choose_turns({"a", "a"}, MpiPattern::all_pairs, PeerChoice::remote);
              }),
              HasSubstr("there is no remote pair"));
}

TEST(MpiSteps, MixTheRoundsOfAllPairsAndEndEachRowWithRankZero) {
  const std::vector<std::string> hosts{"a", "b", "c", "d", "e"};
  const MpiSteps steps(hosts, MpiDesign(40, {MpiOperation::pingpong, 1, 0}), MpiPattern::all_pairs, PeerChoice::any, 0);
  ASSERT_EQ(steps.steps().size(), 40 * 5U);
  EXPECT_EQ(steps.leader(), 0);
  std::set<std::vector<const MpiTurn*>> orders;
  for (std::size_t row = 0; row < 40; ++row) {
    std::vector<const MpiTurn*> order;
    for (std::size_t i = 0; i < 5; ++i) {
      const MpiStep& step = steps.steps()[5 * row + i];
      EXPECT_EQ(step.row, row);
      EXPECT_EQ(step.ends_row, i == 4);
      order.push_back(step.turn);
    }
    EXPECT_EQ(order.back()->front().initiator, 0);
    EXPECT_EQ(std::set<const MpiTurn*>(order.begin(), order.end()).size(), 5U) << "each round once";
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 20U);
}

TEST(TurnsOfPairs, AreThoseOfRankZerosHostWithTheNextAndInsideIt) {
  const std::vector<std::string> hosts{"a", "a", "a", "a", "b", "b", "b", "b", "c", "c"};
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::any, 1)), "0>4 remote | 0>1 local");
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::any, 2)), "0>4 remote, 1>5 remote | 0>1 local, 2>3 local");
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::any, 4)), "0>4 remote, 1>5 remote, 2>6 remote, 3>7 remote");
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::local, 2)), "0>1 local, 2>3 local");
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::remote, 1)), "0>4 remote");
  EXPECT_EQ(text(turns_of_pairs(hosts, PeerChoice::any, 5)), "");
  EXPECT_EQ(text(turns_of_pairs({"a", "b", "a", "b"}, PeerChoice::any, 2)), "0>1 remote, 2>3 remote");
}

TEST(MpiSteps, GiveEachRowItsNumberOfPairsAndWarmUpEachTurn) {
  const MpiDesign design{{MpiOperation::one_way, 10, 0, 2}, {MpiOperation::one_way, 10, 0, 1}};
  const MpiSteps steps(two_hosts, design, MpiPattern::saturated, PeerChoice::any, 3);
  EXPECT_TRUE(steps.is_series());
  EXPECT_EQ(steps.leader(), 0);
  EXPECT_EQ(steps.summary(), "remote 1, 2; local 1");
  ASSERT_EQ(steps.steps().size(), 3U * 3 + 3);
  std::string text;
  for (const MpiStep& step : steps.steps()) {
    if (!step.warm_up)
      text += std::to_string(step.row) + ":" + std::to_string(step.turn->size()) + (step.ends_row ? "." : "") + " ";
  }
  EXPECT_EQ(text, "0:2. 1:1 1:1. ");
}

TEST(TurnsOfCpus, AreOfEachTwoCpusThenOfManyPairsOfOneAndOfTwo) {
  const std::vector<std::string> hosts{"a", "a", "a", "a", "b", "b", "b", "b"};
  const std::vector<int> cpus{0, 0, 1, 1, 0, 1, 1, 0};
  EXPECT_EQ(text(turns_of_cpus(hosts, cpus, 0)), "0>4 remote | 0>5 remote | 2>4 remote | 2>5 remote");
  EXPECT_EQ(text(turns_of_cpus(hosts, cpus, 1)), "0>4 remote, 2>5 remote | 2>5 remote | 0>4 remote");
  EXPECT_EQ(text(turns_of_cpus(hosts, cpus, 8)),
            "0>4 remote, 1>7 remote, 2>5 remote, 3>6 remote | 2>5 remote, 3>6 remote | 0>4 remote, 1>7 remote");
  EXPECT_THAT(error_in([&] { turns_of_cpus({"a", "a"}, {0, 1}, 0); }), HasSubstr("no second host"));
  const MpiSteps steps(hosts, {{MpiOperation::one_way, 10, 0, 8}}, MpiPattern::cpus, PeerChoice::any, 0, cpus);
  EXPECT_EQ(steps.leader(), 0);
  EXPECT_EQ(steps.steps().size(), 3U);
}

TEST(MpiSteps, SayWhatThereAreTooFewRanksFor) {
  const MpiDesign design{{MpiOperation::one_way, 10, 0, 2}, {MpiOperation::one_way, 10, 0, 1}};
  EXPECT_EQ(MpiSteps({"a", "a"}, design, MpiPattern::saturated, PeerChoice::any, 0).summary(),
            "local 1; too few ranks for 2");
  const auto refused = [&](const MpiDesign& rows) {
    return error_in([&] { MpiSteps({"a", "a"}, rows, MpiPattern::saturated, PeerChoice::any, 0); });
  };
  EXPECT_THAT(refused({design.front()}), HasSubstr("too few ranks for every row of the design: too few ranks for 2"));
  EXPECT_THAT(refused({design.front(), {MpiOperation::one_way, 10, 0}}), HasSubstr("in all rows or in none"));
}

TEST(ChooseTurns, SaysWhichRanksAreMissing) {
  const auto refused = [](const std::vector<std::string>& hosts, MpiPattern pattern, PeerChoice choice) {
    return error_in([&] { choose_turns(hosts, pattern, choice); });
  };
  EXPECT_THAT(refused({"a"}, MpiPattern::pair, PeerChoice::any), HasSubstr("messages need two ranks"));
  EXPECT_THAT(refused({"a"}, MpiPattern::ring, PeerChoice::any), HasSubstr("messages need two ranks"));
  EXPECT_THAT(refused({"a", "a"}, MpiPattern::pair, PeerChoice::both),
              HasSubstr("no remote rank to measure with from a"));
  EXPECT_THAT(refused({"a", "b"}, MpiPattern::pair, PeerChoice::local), HasSubstr("no local rank"));
  EXPECT_THAT(refused({"a", "a"}, MpiPattern::ring, PeerChoice::remote), HasSubstr("no remote pair"));
  EXPECT_THAT(refused({"a", "b"}, MpiPattern::saturated, PeerChoice::local), HasSubstr("no local pair"));
}

TEST(Backgrounds, HaveTheNamesOfTheContract) {
  EXPECT_STREQ(to_string(Background::none), "none");
  EXPECT_STREQ(to_string(Background::dgemm_iprobe), "dgemm+iprobe");
  EXPECT_TRUE(computes(Background::dgemm) && computes(Background::dgemm_iprobe) && !computes(Background::iprobe));
  EXPECT_TRUE(polls(Background::iprobe) && polls(Background::dgemm_iprobe) && !polls(Background::dgemm));
}

}  // namespace
}  // namespace hplcast::calibration
