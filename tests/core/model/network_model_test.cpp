#include "hplcast/core/network_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

TEST(SegmentedLaw, NoSampleIsLessThanTheLeast) {
  Segment line{0, 2e-6, 1e-9, 0, {}, {}};
  Segment half_normal = line, mixture = line, relative = line;
  half_normal.sd_s = 1e-6;
  mixture.modes = {{0.25, 1e-6, 2e-7}, {0.75, 3e-6, 5e-7}};
  relative.log_modes = with_spread({{0.5, 0, 0.1}, {0.5, 0.3, 0.02}}, 1);
  for (const Segment& segment : {line, half_normal, mixture, relative}) {
    const SegmentedLaw law = SegmentedLaw::make({segment});
    for (const double bytes : {0.0, 1e4}) {
      double least_s = std::numeric_limits<double>::infinity();
      for (std::uint64_t call = 0; call < 10'000; ++call)
        least_s = std::min(least_s, law.sample_s(bytes, draw({1, stream_design, 0, 0, 0}, call)));
      EXPECT_LE(law.least_s(bytes), least_s);
      EXPECT_GT(law.least_s(bytes), 0.2 * least_s);
      for (const double uniform : {0.1, 0.9})
        for (const double normal : {-largest_normal, 0.0, largest_normal})
          EXPECT_LE(law.least_s(bytes), law.sample_s(bytes, {uniform, normal}));
    }
  }
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
