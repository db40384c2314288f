#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fit/network/network_steps.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/fit/row_rules.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::fit {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::error_in;

constexpr double mebibyte = 1 << 20;
constexpr double rate = 3.95e9, capacity = 12.5e9, link_latency_s = 20e-6;

/// A link as the model has it: n flows get min(n rate, capacity) together.
double total(long pairs) {
  return std::min(static_cast<double>(pairs) * rate, capacity);
}

struct Measurement {
  std::vector<long> pairs = {1, 2, 4, 8};
  int repetitions = 6;
  double relative_sd = 0;
  double interrupted = 0;  ///< share of turns that last three times as long
  std::uint64_t seed = 1;
  std::function<double(long)> total_of = total;
};

std::vector<SaturatedTurn> measured(const Measurement& how) {
  core::RandomStream random({how.seed, core::stream_fit, 9, 0});
  std::vector<SaturatedTurn> turns;
  for (const long pairs : how.pairs) {
    for (const double size : {1.0, 2.0, 4.0, 8.0}) {
      for (int i = 0; i < how.repetitions; ++i) {
        const double bytes = size * mebibyte;
        double duration_s = link_latency_s + static_cast<double>(pairs) * bytes / how.total_of(pairs);
        duration_s *= std::exp(how.relative_sd * random.normal());
        if (random.uniform() < how.interrupted) duration_s *= 3;
        turns.push_back({pairs, bytes, duration_s});
      }
    }
  }
  return turns;
}

LinkCapacityFit fitted(const Measurement& how) {
  return fit_link_capacity(core::Scope::remote, measured(how));
}

std::vector<std::string> flags(const LinkCapacityFit& fit) {
  std::vector<std::string> names;
  for (const QualityFlag& flag : fit.flags) names.push_back(flag.flag);
  return names;
}

TEST(LinkCapacity, FindsRateAndPlateauOfNoiselessDataWhateverTheLatency) {
  const LinkCapacityFit fit = fitted({});
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_NEAR(fit.single->bytes_per_s, rate, 1e-9 * rate);
  EXPECT_NEAR(fit.capacity.bytes_per_s, capacity, 1e-9 * capacity);
  EXPECT_EQ(fit.plateau_from_pairs, 4);
  EXPECT_EQ(fit.plateau_to_pairs, 8);
  EXPECT_THAT(fit.flags, IsEmpty());
}

TEST(LinkCapacity, IsTheRateOfOnePairWhereThatFillsTheLink) {
  Measurement how;
  how.total_of = [](long) { return rate; };
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.capacity.bytes_per_s, rate, 1e-9 * rate);
  EXPECT_EQ(fit.plateau_from_pairs, 1);
  EXPECT_THAT(fit.flags, IsEmpty());
}

/// 100 measurements; a 95 % interval misses 11 of them with a probability of 1 %.
TEST(LinkCapacity, IntervalsHoldTheTruthAsOftenAsTheySay) {
  int missed_rate = 0, missed_capacity = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Measurement how;
    how.relative_sd = 0.03;
    how.seed = seed;
    const LinkCapacityFit fit = fitted(how);
    ASSERT_TRUE(fit.ok());
    const auto misses = [](const RateEstimate& found, double truth) {
      return truth < found.low_bytes_per_s || truth > found.high_bytes_per_s;
    };
    missed_rate += misses(*fit.single, rate);
    missed_capacity += misses(fit.capacity, capacity);
    EXPECT_NEAR(fit.capacity.bytes_per_s, capacity, 0.05 * capacity);  // five standard errors
  }
  EXPECT_LE(missed_rate, 11);
  EXPECT_LE(missed_capacity, 11);
}

TEST(LinkCapacity, InterruptedTurnsMoveItLittle) {
  Measurement how;
  how.relative_sd = 0.01;
  how.interrupted = 0.1;
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok());
  // A tenth of outliers shifts the median of slopes by some 0.2 standard deviations of theirs.
  EXPECT_NEAR(fit.capacity.bytes_per_s, capacity, 0.03 * capacity);
  EXPECT_NEAR(fit.single->bytes_per_s, rate, 0.03 * rate);
}

TEST(LinkCapacity, ALinkThatWasNeverFullIsALowerBound) {
  Measurement how;
  how.total_of = [](long pairs) { return static_cast<double>(pairs) * rate; };
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.capacity.bytes_per_s, 8 * rate, 1e-9 * rate);
  EXPECT_EQ(flags(fit), std::vector<std::string>{"capacity_lower_bound"});
  EXPECT_THAT(fit.flags.front().detail, HasSubstr("8 pairs at once, the most measured, get 31.6 GB/s"));
}

TEST(LinkCapacity, ASeriesThatFallsCountsUpToWhereItFalls) {
  Measurement how;
  how.total_of = [](long pairs) { return pairs == 8 ? 0.7 * capacity : total(pairs); };
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.capacity.bytes_per_s, capacity, 1e-9 * capacity);
  EXPECT_EQ(fit.plateau_to_pairs, 4);
  EXPECT_EQ(flags(fit), std::vector<std::string>{"capacity_falls"});
  EXPECT_THAT(fit.flags.front().detail, HasSubstr("8 pairs at once get 8.75 GB/s"));
}

TEST(LinkCapacity, OneSizeIsEnoughWhereThereAreManyRows) {
  std::vector<SaturatedTurn> turns;
  for (const long pairs : {1, 4, 8})
    for (int i = 0; i < 9; ++i)
      turns.push_back(
          {pairs, 8 * mebibyte, (1 + 0.01 * (i - 4)) * static_cast<double>(pairs) * 8 * mebibyte / total(pairs)});
  const LinkCapacityFit fit = fit_link_capacity(core::Scope::local, turns);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.capacity.bytes_per_s, capacity, 1e-9 * capacity);
  EXPECT_LT(fit.capacity.low_bytes_per_s, capacity);
  EXPECT_GT(fit.capacity.high_bytes_per_s, capacity);
}

TEST(LinkCapacity, DurationsThatHardlyGrowWithTheSizeStillGiveAWideInterval) {
  Measurement how;
  how.relative_sd = 2;
  how.repetitions = 3;
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_GT(fit.capacity.low_bytes_per_s, 0);
  EXPECT_GT(fit.capacity.high_bytes_per_s, 1.5 * fit.capacity.low_bytes_per_s);
}

TEST(LinkCapacity, ShortMessagesDoNotCount) {
  std::vector<SaturatedTurn> turns = measured({});
  for (int i = 0; i < 1000; ++i) turns.push_back({4, 1000, 1.0});
  EXPECT_NEAR(fit_link_capacity(core::Scope::remote, turns).capacity.bytes_per_s, capacity, 1e-9 * capacity);
}

TEST(LinkCapacity, SaysWhyThereIsNone) {
  EXPECT_EQ(fit_link_capacity(core::Scope::remote, {}).status, SaturationStatus::no_rows);
  Measurement how;
  how.pairs = {1};
  EXPECT_EQ(fitted(how).status, SaturationStatus::one_pair_only);
  how.pairs = {1, 2};
  how.repetitions = 1;
  const LinkCapacityFit few = fitted(how);
  EXPECT_EQ(few.status, SaturationStatus::too_few_rows);
  EXPECT_THAT(few.notes.front(), HasSubstr("1 pair at once: only 4 rows of long messages, at least 5"));
}

TEST(LinkCapacity, WithoutASinglePairNothingIsKnownOfTheRate) {
  Measurement how;
  how.pairs = {8};
  const LinkCapacityFit fit = fitted(how);
  ASSERT_TRUE(fit.ok());
  EXPECT_FALSE(fit.single);
  EXPECT_THAT(fit.flags.front().detail, HasSubstr("nothing else was measured to compare with"));
}

core::MpiMeasurement row(long order, long pairs, double duration_s, const std::string& error = "") {
  core::MpiMeasurement result;
  result.operation = "one_way";
  result.scope = "local";
  result.size_bytes = mebibyte;
  result.duration_s = duration_s;
  result.error = error;
  result.pairs = pairs;
  result.order = order;
  return result;
}

/// By scope: local, remote.
std::array<detail::SaturatedTurns, 2> turns_of(const std::vector<core::MpiMeasurement>& rows) {
  return detail::saturated_turns(rows_of(rows));
}

TEST(SaturatedTurns, LastAsLongAsTheirSlowestPair) {
  const auto [local, remote] = turns_of({row(0, 2, 1.0), row(1, 2, 5.0), row(0, 2, 3.0), row(1, 2, 4.0)});
  ASSERT_EQ(local.complete.size(), 2U);
  EXPECT_EQ(local.complete[0].duration_s, 3.0);
  EXPECT_EQ(local.complete[1].duration_s, 5.0);
  EXPECT_THAT(remote.complete, IsEmpty());
}

TEST(SaturatedTurns, CountOnlyIfAllTheirPairsAreThere) {
  const auto local = turns_of({row(0, 2, 1.0), row(1, 2, 5.0), row(1, 2, 0, "lost"), row(2, 1, 2.0)})[0];
  EXPECT_EQ(local.complete.size(), 1U);
  EXPECT_EQ(local.incomplete, 2);
}

TEST(SaturatedTurns, RowsWithoutAnOrderAreTurnsOfTheirOwn) {
  EXPECT_EQ(turns_of({row(-1, 2, 1.0), row(-1, 2, 2.0), row(-1, 2, 3.0)})[0].complete.size(), 3U);
  core::MpiMeasurement other = row(-1, 2, 1.0);
  other.scope = "elsewhere";
  EXPECT_THAT(error_in([&] { turns_of({other}); }), HasSubstr("elsewhere"));
  other.operation = "pingpong";
  turns_of({other});
}

}  // namespace
}  // namespace hplcast::fit
