// Exchanges, each behind a message, beside round trips: what MPI_Irecv and MPI_Wait around a send cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fit/network/local_rows.hpp"

namespace hplcast::fit {
namespace {

constexpr double s_per_byte = 2e-10, longer_s = 1.1e-6, longer_s_per_byte = 3e-11;

/// Sends below `threshold` do not wait; then 1 and 0.5 us of a message are of its calls.
std::vector<core::MpiMeasurement> rows_with_exchanges(double noise, double threshold, double messages_of_exchange = 1) {
  return testing::local_rows(noise, [&](double size, const auto& add) {
    const bool detached = size < threshold;
    const double message_s = 2e-6 + s_per_byte * size + (detached ? 1.5e-6 : 0);
    add("pingpong", 2 * message_s);
    add("send", detached ? 1e-6 : message_s);
    add("recv", detached ? 5e-7 : message_s);
    add("send_unmatched", detached ? 1e-6 : 0.02);
    add("exchange", (1 + messages_of_exchange) * message_s + longer_s + longer_s_per_byte * size);
  });
}

core::ScopeModel model_of(const std::vector<core::MpiMeasurement>& rows) {
  const NetworkFit fit = fit_network(rows);
  EXPECT_TRUE(fit.ok()) << fit.reason;
  return fit.model.scope(core::Scope::local);
}

TEST(Exchanges, TakeLongerThanMessagesByAConstantAndPerByte) {
  for (const double threshold : {4000.0, 1e6}) {
    const core::ScopeModel exact = model_of(rows_with_exchanges(0, threshold));
    // Short ones have up to 16 KiB, whose bytes count among the constant: half of them less than 100 bytes.
    EXPECT_NEAR(exact.exchange_s, longer_s, 200 * longer_s_per_byte + 1e-9) << threshold;
    EXPECT_NEAR(exact.exchange_s_per_byte, longer_s_per_byte, 1e-13) << threshold;
    // A tenth of noise on 180 messages and exchanges of some 8 us: a standard error of 1.25 0.1 8 / sqrt(180) us.
    EXPECT_NEAR(model_of(rows_with_exchanges(0.1, threshold)).exchange_s, longer_s, 3 * 0.075e-6) << threshold;
  }
}

TEST(Exchanges, OfMessagesWithATailTakeAsMuchLonger) {
  core::RandomStream stream({1, core::stream_fit, 0, 1});
  const auto rows = testing::local_rows(0.02, [&](double size, const auto& add) {
    // One message of seven takes 2.5 times as long: the mean is above the median of two of them by a fifth.
    const auto message_s = [&] { return (3.5e-6 + s_per_byte * size) * (stream.uniform() < 0.15 ? 2.5 : 1); };
    add("pingpong", message_s() + message_s());
    add("send", 1e-6);
    add("recv", 5e-7);
    add("exchange", message_s() + message_s() + longer_s);
  });
  NetworkFitOptions options;
  options.means = true;
  options.noise = SegmentNoiseKind::mixture;
  const NetworkFit fit = fit_network(rows, options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_NEAR(fit.model.scope(core::Scope::local).exchange_s, longer_s, 0.15e-6);
}

TEST(Exchanges, ThatGoOneWayAtATimeHaveNoCostPerByteBeside) {
  const core::ScopeModel model = model_of(rows_with_exchanges(0, 4000, 2));
  EXPECT_TRUE(model.half_duplex);
  EXPECT_EQ(model.exchange_s_per_byte, 0);
}

TEST(Exchanges, ThatGoOneWayAtATimeHaveThreeMessagesFromTheThresholdOn) {
  std::vector<core::MpiMeasurement> rows = rows_with_exchanges(0, 30, 2);
  for (core::MpiMeasurement& row : rows)  // shorter ones meet
    if (row.operation == "exchange" && row.size_bytes < 30) row.duration_s -= 3.5e-6 + s_per_byte * row.size_bytes;
  const NetworkFit fit = fit_network(rows);
  const core::ScopeModel& model = fit.model.scope(core::Scope::local);
  EXPECT_TRUE(model.half_duplex);
  EXPECT_NEAR(model.exchange_s, longer_s, 2000 * longer_s_per_byte) << "not a message of 2 us and more besides";
  EXPECT_THAT(fit.notes, ::testing::Contains(::testing::HasSubstr("local: exchanges take 1.")));
}

TEST(Exchanges, WithoutRowsCostNothingBeside) {
  std::vector<core::MpiMeasurement> rows = rows_with_exchanges(0, 4000);
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const auto& row) { return row.operation == "exchange"; }),
             rows.end());
  EXPECT_EQ(model_of(rows).exchange_cost_s(1e6), 0);
}

}  // namespace
}  // namespace hplcast::fit
