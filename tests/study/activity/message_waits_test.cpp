#include "study/activity/observed_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;

std::uint8_t operation(const std::string& name) {
  const auto found = std::find(core::mpi_names.begin(), core::mpi_names.end(), name);
  return static_cast<std::uint8_t>(found - core::mpi_names.begin());
}

/// An event of the message number `number` from rank 0 to rank 1, in the broadcast.
ActivityEvent message(const std::string& name, bool sends, double begin_s, double end_s, std::uint32_t number = 0) {
  ActivityEvent event;
  event.kind = ActivityEvent::Kind::message;
  event.name = operation(name);
  event.phase = 2;
  event.sends = sends;
  event.peer = sends ? 1 : 0;
  event.begin_s = begin_s;
  event.end_s = end_s;
  event.number = number;
  return event;
}

/// Two ranks that began at the same time, rank 0 by its clock at 10.
class TwoRanks : public ::testing::Test {
 protected:
  TwoRanks() : ranks(2) {
    ranks[1].rank = 1;
    for (RankActivity& rank : ranks) rank.begin_s = 10;
  }
  MessageWaits waits() const { return message_waits(ranks, clocks_of(ranks)); }
  double waited_s(std::size_t rank, std::size_t event = 0) const { return waits().waited_s[rank][event]; }

  std::vector<RankActivity> ranks;
};

TEST_F(TwoRanks, AReceiverWaitsUntilTheSenderComes) {
  ranks[0].events = {message("send", true, 3, 3.25)};
  ranks[1].events = {message("recv", false, 1, 3.5)};
  EXPECT_DOUBLE_EQ(waited_s(1), 2);
  EXPECT_EQ(waited_s(0), 0);
  EXPECT_DOUBLE_EQ(waits().known[1][2].calls_s, 2.5);
  EXPECT_DOUBLE_EQ(waits().known[1][2].waited_s, 2);
}

TEST_F(TwoRanks, ASenderWaitsForTheReceiverUnlessItIsDoneBefore) {
  ranks[0].events = {message("ssend", true, 1, 5)};
  ranks[1].events = {message("recv", false, 4, 5)};
  EXPECT_DOUBLE_EQ(waited_s(0), 3);
  ranks[0].events[0] = message("send", true, 1, 2);
  EXPECT_EQ(waited_s(0), 0);
  EXPECT_DOUBLE_EQ(waits().known[0][2].calls_s, 1);
}

TEST_F(TwoRanks, AWaitIsForTheMessageOfItsRequest) {
  ranks[0].events = {message("send", true, 4, 4.5)};
  ranks[1].events = {message("irecv", false, 1, 1.25), message("wait", false, 2, 5)};
  EXPECT_EQ(waited_s(1, 0), 0) << "irecv does not block";
  EXPECT_DOUBLE_EQ(waited_s(1, 1), 2);
}

TEST_F(TwoRanks, MessagesAreMatchedByTheirNumbers) {
  ranks[0].events = {message("send", true, 1, 1.5, 0), message("send", true, 8, 8.5, 1)};
  ranks[1].events = {message("recv", false, 7, 9, 1)};  // the event of the first was thinned
  EXPECT_DOUBLE_EQ(waited_s(1), 1);
  EXPECT_EQ(waits().known[0][2].calls_s, 0.5) << "of the second only";
}

TEST_F(TwoRanks, NothingIsKnownOfMessagesWithoutTheirOtherSide) {
  ranks[1].events = {message("recv", false, 1, 3.5), message("recv", false, 4, 5, ActivityEvent::no_number)};
  EXPECT_EQ(waits().known[1][2].calls_s, 0);
}

TEST_F(TwoRanks, ClocksAreAlignedFirst) {
  ranks[0].events = {message("send", true, 3, 3.25)};
  ranks[1].events = {message("recv", false, 1, 3.5)};
  ranks[1].first_rank_of_host = 1;
  ranks[1].begin_s = 10 + 1000;
  ranks[0].clocks = {{1, 1000, 1000, 1e-6}, {1, 1020, 1000, 1e-6}};
  EXPECT_NEAR(waited_s(1), 2, 1e-12);  // readings of 1000 s have a spacing of 1e-13 s
  EXPECT_EQ(waits().too_early, 0U);
  ranks[0].clocks.clear();
  EXPECT_THAT(tests::error_in([&] { waits(); }), HasSubstr("did not compare"));
}

TEST_F(TwoRanks, MessagesThatComeBeforeTheyAreSentAreCounted) {
  ranks[0].events = {message("send", true, 3, 3.25)};
  ranks[1].events = {message("recv", false, 1, 2)};
  EXPECT_EQ(waits().too_early, 1U);
  EXPECT_DOUBLE_EQ(waits().most_early_s, 1);
  EXPECT_DOUBLE_EQ(waited_s(1), 1) << "no longer than the call";
}

}  // namespace
}  // namespace hplcast::study
