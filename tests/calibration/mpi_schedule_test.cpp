#include "hplcast/calibration/mpi_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../core/errors_in.hpp"

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
