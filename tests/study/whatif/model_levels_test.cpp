#include "hplcast/study/transform.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/cluster_model.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using core::KernelShape;

/// dgemm of two CPUs of one host, with noise, and a network with a mixture.
core::ClusterModel example() {
  core::ClusterModel cluster;
  cluster.name = "two CPUs";
  cluster.hosts = core::Hosts::make({"n-1", 2, 2, {}, 0});
  const auto law = [](double mnk) {
    return core::PiecewiseLaw(core::DurationLaw::make(core::Polynomial::make({{1, 1, 1}, {1, 1, 0}}, {mnk, 1e-9}),
                                                      core::Polynomial::make({{1, 1, 1}}, {mnk / 10}),
                                                      core::NoiseFamily::half_normal));
  };
  cluster.kernels["dgemm"] = core::KernelModel::make("M2", law(9e-11), {{0, 0, law(6e-11)}, {0, 1, law(8e-11)}},
                                                     core::ShapeRange{{100, 100, 128}, {10000, 10000, 128}});
  cluster.kernels["dtrsv"] = core::KernelModel::make(
      "M0",
      core::PiecewiseLaw(core::DurationLaw::make(core::Polynomial::make({{}}, {1e-5}), {}, core::NoiseFamily::none)));
  core::NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-7;
  network.local.cost(core::MessageCost::send) =
      core::SegmentedLaw::make({{0, 0, 1e-10, 0, {{0.5, 1e-6, 0}, {0.5, 3e-6, 0}}}});
  cluster.network = core::NetworkModel::make(network);
  return cluster;
}

const core::DurationLaw& dgemm(const core::ClusterModel& cluster, int cpu, const KernelShape& shape) {
  return cluster.kernels.at("dgemm").law(0, cpu).at(shape);
}

TEST(ModelLevels, TheDefaultChangesNothing) {
  EXPECT_EQ(core::cluster_sha256(at_levels(example(), {})), core::cluster_sha256(example()));
  EXPECT_TRUE(described({}).empty());
}

TEST(ModelLevels, WithoutNoiseExpectationsStay) {
  ModelLevels levels;
  levels.noise = false;
  const auto cluster = at_levels(example(), levels);
  const KernelShape shape{100, 200, 128};
  EXPECT_EQ(dgemm(cluster, 1, shape).noise(), core::NoiseFamily::none);
  EXPECT_EQ(dgemm(cluster, 1, shape).mean_s(shape), dgemm(example(), 1, shape).mean_s(shape));
  EXPECT_NE(core::cluster_sha256(cluster), core::cluster_sha256(example()));
  EXPECT_EQ(described(levels).at("noise"), "off");
}

TEST(ModelLevels, WithoutNetworkNoiseEveryMessageTakesItsExpectedTime) {
  ModelLevels levels;
  levels.network_noise = false;
  const auto cluster = at_levels(example(), levels);
  const auto& send = cluster.network.scope(core::Scope::local).cost(core::MessageCost::send);
  EXPECT_DOUBLE_EQ(send.mean_s(1000), 2e-6 + 1e-7);
  EXPECT_DOUBLE_EQ(send.sample_s(1000, {0.1, 2.0}), 2e-6 + 1e-7);
}

TEST(ModelLevels, HomogeneousIsTheMeanOverTheCpusNotTheLawForTheRest) {
  ModelLevels levels;
  levels.per_cpu = false;
  const auto cluster = at_levels(example(), levels);
  EXPECT_TRUE(cluster.kernels.at("dgemm").overrides().empty());
  EXPECT_DOUBLE_EQ(dgemm(cluster, 0, {}).mu().coefficient({1, 1, 1}), 7e-11);
}

TEST(ModelLevels, OneProductKeepsTheTotalOverTheSizesOfTheFit) {
  ModelLevels levels;
  levels.kernel_model = "M1";
  const auto cluster = at_levels(example(), levels);
  EXPECT_EQ(cluster.kernels.at("dgemm").level(), "M1");
  EXPECT_EQ(cluster.kernels.at("dtrsv").level(), "M0");
  // k is always 128, so the term mn is 1e-9 / 128 of mnk for every size.
  const core::Polynomial& mu = dgemm(cluster, 0, {}).mu();
  EXPECT_EQ(mu.terms().size(), 1U);
  EXPECT_NEAR(mu.coefficient({1, 1, 1}), 6e-11 + 1e-9 / 128, 1e-20);  // rounding of sums of 25 terms
  EXPECT_EQ(dgemm(cluster, 0, {}).noise(), core::NoiseFamily::half_normal);
}

TEST(ModelLevels, MoreProductsCannotBeMade) {
  ModelLevels levels;
  levels.kernel_model = "M2";
  EXPECT_NO_THROW(at_levels(example(), levels));
  ModelLevels down;
  down.kernel_model = "M1";
  EXPECT_THAT(tests::error_in([&] { at_levels(at_levels(example(), down), levels); }),
              ::testing::HasSubstr("`level of dgemm` is M1"));
}

}  // namespace
}  // namespace hplcast::study
