#include "smpi-models/fast/column_exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace hplcast::smpi_models {
namespace {

using ::testing::ElementsAre;

/// 1 s to send, 10 s on the way, 0.1 s to receive, 0.01 s to copy, whatever the size; messages are counted.
class PlainCosts final : public ColumnCosts {
 public:
  PlainCosts() {
    async_small_bytes = 1e9;
    detached_bytes = 1e9;
  }
  ExchangeMessage message(int from, int to, double bytes) override {
    ++messages[{from, to}];
    sent_bytes += bytes;
    return {1, 10, 0.1};
  }
  double copy_s(int /*position*/, int /*count*/) override { return 0; }

  std::map<std::pair<int, int>, int> messages;
  double sent_bytes = 0;
};

std::vector<PivotCandidate> candidates_of(const std::vector<double>& values) {
  std::vector<PivotCandidate> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.push_back({values[i], 0, 100.0 + static_cast<double>(i), static_cast<double>(i)});
  }
  return result;
}

TEST(ColumnExchange, OfTwoTakesOneMessageEachWay) {
  PlainCosts costs;
  std::vector<double> times_s = {0, 5};
  auto candidates = candidates_of({0.3, 0.7});
  exchange_column(4, costs, times_s, candidates);
  // The second sends at 5 s and is through at 6; the first waits until 16.
  EXPECT_THAT(times_s, ElementsAre(16.1, 11.1));
  EXPECT_EQ(candidates[0].row, 101);
  EXPECT_EQ(candidates[1].row, 101);
  EXPECT_EQ(costs.sent_bytes, 8 * (2 * 4 + 4) + 8 * (4 + 4));  // the owner of the current row sends it along
}

/// 2 s of MPI_Irecv and MPI_Wait beside the others.
class CostsOfExchanges final : public ColumnCosts {
 public:
  explicit CostsOfExchanges(double detached) { detached_bytes = async_small_bytes = detached; }
  ExchangeMessage message(int /*from*/, int /*to*/, double /*bytes*/) override { return {1, 10, 0.1, 2}; }
  double copy_s(int /*position*/, int /*count*/) override { return 0; }
};

TEST(ColumnExchange, CostsMoreInBothDirectionsOnly) {
  for (const double detached : {0.0, 1e9}) {
    CostsOfExchanges costs(detached);
    std::vector<double> times_s(3, 0.0);
    auto candidates = candidates_of({1, 1, 1});
    exchange_column(4, costs, times_s, candidates);
    // The third and the first exchange, then the first and the second, then the first sends to the third. If senders do
    // not wait for receivers, the second has sent long before.
    EXPECT_NEAR(times_s[2], detached > 0 ? (11.1 + 2) + (1 + 0.1 + 2) + 11.1 : (10 + 2) + (10 + 2) + 10, 1e-9);
  }
}

/// Messages of 10 s that wait for their receivers, one way at a time.
class HalfDuplexCosts final : public ColumnCosts {
 public:
  ExchangeMessage message(int /*from*/, int /*to*/, double /*bytes*/) override { return {1, 10, 0.1, 0, true}; }
  double copy_s(int /*position*/, int /*count*/) override { return 0; }
};

TEST(ColumnExchange, OfAHalfDuplexNetworkGoesOneWayAfterTheOther) {
  for (const std::vector<double>& begin_s : {std::vector<double>{0, 5}, {5, 0}, {5, 5}}) {
    HalfDuplexCosts costs;
    std::vector<double> times_s = begin_s;
    auto candidates = candidates_of({0.3, 0.7});
    exchange_column(4, costs, times_s, candidates);
    // Two that are sent at the same instant go at once, as those of exact mode.
    const double end_s = begin_s[0] == begin_s[1] ? 15 : 25;
    EXPECT_THAT(times_s, ElementsAre(end_s, end_s));
  }
}

TEST(ColumnExchange, FindsTheGreatestForEverybodyWhateverTheirNumber) {
  for (int size = 2; size <= 17; ++size) {
    for (int winner = 0; winner < size; ++winner) {
      PlainCosts costs;
      std::vector<double> times_s(static_cast<std::size_t>(size), 0.0);
      std::vector<double> values(times_s.size(), 0.5);
      values[static_cast<std::size_t>(winner)] = -0.9;  // by absolute value
      auto candidates = candidates_of(values);
      exchange_column(8, costs, times_s, candidates);
      for (const PivotCandidate& one : candidates) EXPECT_EQ(one.owner, winner) << size;
    }
  }
}

TEST(ColumnExchange, OfEqualCandidatesTheLowestProcessRowWins) {
  PlainCosts costs;
  std::vector<double> times_s(6, 0.0);
  auto candidates = candidates_of({1, 1, 1, 1, 1, 1});
  exchange_column(8, costs, times_s, candidates);
  for (const PivotCandidate& one : candidates) EXPECT_EQ(one.owner, 0);
}

TEST(ColumnExchange, IsOverAfterItsSteps) {
  for (const int size : {2, 4, 8, 16, 32}) {
    PlainCosts costs;
    std::vector<double> times_s(static_cast<std::size_t>(size), 0.0);
    auto candidates = candidates_of(std::vector<double>(times_s.size(), 1.0));
    exchange_column(8, costs, times_s, candidates);
    for (const double time_s : times_s) EXPECT_NEAR(time_s, 11.1 * exchange_steps(size), 1e-9) << size;
  }
  EXPECT_EQ(exchange_steps(6), 2 + 2);  // four in pairs; two before and after them
}

TEST(ColumnExchange, OfLongMessagesWaitsForTheReceiver) {
  PlainCosts costs;
  costs.async_small_bytes = costs.detached_bytes = 10;
  std::vector<double> times_s = {0, 5};
  auto candidates = candidates_of({0.3, 0.7});
  exchange_column(4, costs, times_s, candidates);
  EXPECT_THAT(times_s, ElementsAre(15, 15));
}

}  // namespace
}  // namespace hplcast::smpi_models
