// What a prediction is judged by: kernels that were free, and the peak of dgemm.
#include "hplcast/study/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `s_per_flop` for each flop: 2 m n k coefficient.
core::KernelModel dgemm_at(double s_per_flop, std::vector<core::CpuLaw> others = {}) {
  const auto mu = core::Polynomial::make({{1, 1, 1}}, {2 * s_per_flop});
  return core::KernelModel::make("M1", core::PiecewiseLaw(core::DurationLaw::make(mu, {}, core::NoiseFamily::none)),
                                 std::move(others));
}

core::Prediction prediction_of(double time_s) {
  core::Prediction prediction;
  prediction.parameters.N = 1000;
  prediction.parameters.P = 2;
  prediction.parameters.Q = 2;
  prediction.time_s = time_s;
  prediction.kernels["dgemm"] = {100, 0, 1.0, 1e9};
  return prediction;
}

TEST(FreeKernels, AreThoseThatWereCalledAndHaveNoModelTheDearestFirst) {
  core::ClusterModel cluster;
  cluster.kernels["dgemm"] = dgemm_at(1e-10);
  core::Prediction prediction = prediction_of(1);
  EXPECT_TRUE(free_kernels(prediction, cluster).empty());
  prediction.kernels["dscal"] = {1000, 0, 0, 0};
  prediction.kernels["dtrsm"] = {10, 0, 0, 8e9};
  prediction.kernels["idamax"] = {0, 0, 0, 0};  // never called
  const auto found = free_kernels(prediction, cluster);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "dtrsm");
  EXPECT_DOUBLE_EQ(found[0].share, 0.2);  // 8 Gflop at 10 Gflop/s on 4 ranks, of 1 s
  EXPECT_EQ(found[1].name, "dscal");
  EXPECT_DOUBLE_EQ(found[1].share, 0.00025);  // 1000 calls of 1 us on 4 ranks
}

TEST(FreeKernels, ThatMoveTheMatrixCountItsBytes) {
  core::ClusterModel cluster;
  cluster.kernels["dgemm"] = dgemm_at(1e-10);
  core::Prediction prediction = prediction_of(1);
  prediction.kernels["dlaswp01T"] = {5, 0, 0, 0};
  const auto found = free_kernels(prediction, cluster);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].share, 2 * 8e6 / 5e9 / 4,
              1e-5);  // twice a matrix of 8 MB (HPL adds a column) at 5 GB/s, 4 ranks
}

TEST(FreeKernels, AreToldOnceForThePredictionWhereTheyMatterMost) {
  core::ClusterModel cluster;
  cluster.kernels["dgemm"] = dgemm_at(1e-10);
  core::Prediction slow = prediction_of(10), fast = prediction_of(1);
  for (core::Prediction* one : {&slow, &fast}) {
    one->kernels["dtrsm"] = {10, 0, 0, 8e9};
    one->kernels["dscal"] = {1000, 0, 0, 0};
  }
  const auto lines = free_kernel_lines({slow, fast}, cluster);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], StartsWith("warning: dtrsm has no model: its 10 calls were free"));
  EXPECT_THAT(lines[0], HasSubstr("about 20 % of the predicted time"));
  EXPECT_THAT(lines[1], StartsWith("note: "));
  EXPECT_THAT(lines[1], HasSubstr("dscal (1000 calls)"));
  EXPECT_TRUE(free_kernel_lines({}, cluster).empty());
}

TEST(DgemmPeak, IsTheRateOfTheRanksOfHostsThatAreFilledInOrder) {
  core::ClusterModel cluster;
  cluster.hosts = core::Hosts::make({"n-[1-3]", 4, 1, {}, 0});
  EXPECT_EQ(dgemm_peak_gflops(cluster, 4), 0) << "no model of dgemm";
  cluster.kernels["dgemm"] = dgemm_at(1e-10);  // 10 Gflop/s
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 1), 10, 1e-9);
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 6), 60, 1e-9);
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 12), 120, 1e-9);
  const auto slow = core::Polynomial::make({{1, 1, 1}}, {4e-10});  // 5 Gflop/s
  const core::PiecewiseLaw law(core::DurationLaw::make(slow, {}, core::NoiseFamily::none));
  cluster.kernels["dgemm"] = dgemm_at(1e-10, {{1, 0, law}});
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 4), 40, 1e-9);
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 6), 50, 1e-9) << "two ranks on the slow second host";
}

TEST(DgemmPeak, IsTakenAtTheBestShape) {
  core::ClusterModel cluster;
  const auto mu = core::Polynomial::make({{1, 1, 1}, {1, 0, 1}}, {2e-10, 3.2e-9});  // mk costs as 16 of n
  cluster.kernels["dgemm"] =
      core::KernelModel::make("M2", core::PiecewiseLaw(core::DurationLaw::make(mu, {}, core::NoiseFamily::none)));
  EXPECT_NEAR(dgemm_peak_gflops(cluster, 1), 10 * 262144.0 / (262144 + 16), 1e-9);
}

}  // namespace
}  // namespace hplcast::study
