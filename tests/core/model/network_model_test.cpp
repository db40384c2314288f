#include "hplcast/core/network_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

TEST(SegmentedLaw, ASegmentHoldsFromItsStartUpToTheNext) {
  const auto law = SegmentedLaw::make({{0, 1, 0}, {100, 2, 0.5}});
  EXPECT_EQ(law.mean_s(0), 1);
  EXPECT_EQ(law.mean_s(99), 1);
  EXPECT_EQ(law.mean_s(100), 52);
  EXPECT_EQ(law.mean_s(3e9), 2 + 1.5e9);  // above 2^31
}

TEST(SegmentedLaw, IsNeverNegative) {
  const auto law = SegmentedLaw::make({{0, -1, 0.001}});
  EXPECT_EQ(law.mean_s(10), 0);
  EXPECT_EQ(law.sample_s(10, {}), 0);
}

TEST(SegmentedLaw, MixturesDrawTheIntercept) {
  const auto law = SegmentedLaw::make({{0, 99, 1, 0, {{0.25, 10, 0}, {0.75, 20, 0}}}});
  EXPECT_EQ(law.mean_s(1), 0.25 * 10 + 0.75 * 20 + 1);
  EXPECT_EQ(law.sample_s(1, {0.2, 0.3}), 11);
  EXPECT_EQ(law.sample_s(1, {0.3, 0.3}), 21);
}

/// Noise of which a tenth of the messages take three times as long as the others.
std::vector<MixtureMode> long_and_short() {
  return with_spread({{0.9, 0, 0.1}, {0.1, std::log(3), 0.1}}, 1);
}

TEST(SegmentedLaw, RelativeNoiseMultipliesTheLineAndKeepsItsMean) {
  const auto law = SegmentedLaw::make({{0, 2, 1, 0, {}, long_and_short()}});
  EXPECT_EQ(law.mean_s(8), 10);
  const double shift = law.segments()[0].log_modes[0].mean;
  EXPECT_NEAR(std::exp(shift) * (0.9 + 0.1 * 3) * std::exp(0.1 * 0.1 / 2), 1, 1e-12);
  EXPECT_NEAR(law.sample_s(8, {0.5, 2}), 10 * std::exp(shift + 0.2), 1e-9);
  EXPECT_NEAR(law.sample_s(8, {0.95, 0}), 10 * std::exp(shift) * 3, 1e-9);
}

TEST(SegmentedLaw, RelativeNoiseHasTheSpreadThatIsAskedFor) {
  const double sd = std::sqrt(std::log(1 + 0.3 * 0.3));  // log-normal with 30 %
  EXPECT_NEAR(relative_sd(with_spread({{1, 5, sd}}, 1)), 0.3, 1e-12);
  EXPECT_EQ(relative_sd({}), 0);
  EXPECT_TRUE(with_spread(long_and_short(), 0).empty());
  EXPECT_LT(relative_sd(with_spread(long_and_short(), 0.5)), relative_sd(long_and_short()));
}

TEST(SegmentedLaw, RefusesRelativeNoiseOfAnotherMeanOrBesideOther) {
  EXPECT_THROW(SegmentedLaw::make({{0, 2, 1, 0, {}, {{1, 0.1, 0}}}}), DomainError);
  EXPECT_THROW(SegmentedLaw::make({{0, 2, 1, 0, {}, {{1, std::nan(""), 0}}}}), DomainError);
  EXPECT_THROW(SegmentedLaw::make({{0, 2, 1, 0.5, {}, long_and_short()}}), DomainError);
  EXPECT_THROW(SegmentedLaw::make({{0, 2, 1, 0, {{1, 2, 0}}, long_and_short()}}), DomainError);
}

TEST(SegmentedLaw, RefusesGapsInItsDefinition) {
  EXPECT_THROW(SegmentedLaw::make({}), DomainError);
  EXPECT_THROW(SegmentedLaw::make({{1, 0, 0}}), DomainError);
  EXPECT_THROW(SegmentedLaw::make({{0, 0, 0}, {5, 0, 0}, {5, 0, 0}}), DomainError);
}

TEST(NetworkModel, ChecksItsValues) {
  NetworkModel::Values values;
  values.local.bandwidth_bytes_per_s = 1e9;
  values.local.latency_s = 1e-6;
  EXPECT_NO_THROW(NetworkModel::make(values));
  EXPECT_EQ(NetworkModel::make(values).scope(Scope::remote).latency_s, 1e-6) << "one host: local stands for both";
  auto bad = values;
  bad.local.latency_s = 0;
  EXPECT_THROW(NetworkModel::make(bad), DomainError);
  bad = values;
  bad.async_small_bytes = 10;
  EXPECT_THROW(NetworkModel::make(bad), DomainError);
  bad = values;
  bad.topology = Torus{{4, 0}};
  EXPECT_THROW(NetworkModel::make(bad), DomainError);
}

}  // namespace
}  // namespace hplcast::core
