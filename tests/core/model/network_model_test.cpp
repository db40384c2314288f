#include "hplcast/core/network_model.hpp"

#include <gtest/gtest.h>

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
