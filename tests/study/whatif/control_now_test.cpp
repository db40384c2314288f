// A prediction for the machine as its controls are now, and as it is with fewer busy cores than when it was measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/resolve.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using tests::error_in;

core::ClusterModel calibrated() {
  core::ClusterModel cluster;
  cluster.name = "c";
  cluster.kernels["dgemm"] =
      core::KernelModel::make("M1", core::PiecewiseLaw(core::DurationLaw::make(
                                        core::Polynomial::make({{1, 1, 1}}, {1e-10}), {}, core::NoiseFamily::none)));
  cluster.provenance =
      R"({"control": {"shape": "640x640x640", "wall_s": 0.01, "low": 0.0098, "high": 0.0103, "cpu_s": 0.01, "message_s": 1e-5}})";
  return cluster;
}

/// Controls of two ranks, of which the second is the slower.
std::vector<core::ControlRows> controls_of(const std::vector<double>& walls_s, double sd_s = 0) {
  std::vector<core::ControlRows> controls;
  for (const double wall_s : walls_s) {
    core::ControlRow row;
    row.shape = "640x640x640";
    row.calls = 4;
    row.wall_s = row.cpu_s = wall_s / 2;
    row.sd_s = sd_s;
    controls.push_back({row, row});
    controls.back().back().wall_s = wall_s;
  }
  return controls;
}

double mnk_s(const core::ClusterModel& cluster) {
  const core::KernelShape shape{1000, 1000, 100};
  return cluster.kernels.at("dgemm").law(0, 0).at(shape).mean_s(shape) / 1e8;
}

TEST(ControlNow, MakesKernelsAsSlowAsTheControlsAre) {
  core::ClusterModel cluster = calibrated();
  const ControlNow now = at_control(cluster, controls_of({0.012, 0.012, 0.012}));
  EXPECT_EQ(now.coefficient, 1);  // controls without scatter count whole
  EXPECT_NEAR(now.slower, 1.2, 1e-12);
  EXPECT_NEAR(mnk_s(cluster), 1.2e-10, 1e-21);
  // compare takes the machine from there: the control of now, with the relative range of the calibration.
  const core::Control control = core::control_of(cluster).value();
  EXPECT_EQ(control.wall_s, 0.012);
  EXPECT_NEAR(control.high_s / control.low_s, 0.0103 / 0.0098, 1e-12);
  const auto provenance = nlohmann::json::parse(cluster.provenance);
  EXPECT_EQ(provenance["control_now"]["calibration_wall_s"], 0.01);
}

TEST(ControlNow, CountsAChangeByWhatIsLeftOfItBesideTheScatterOfTheControls) {
  // ln of three controls: 0.04 + (-d, 0, d); variance of their mean d^2 / 3, with d = 0.03: 3e-4; 1 - 3e-4 / 0.04^2.
  core::ClusterModel cluster = calibrated();
  const double d = 0.03;
  const ControlNow now =
      at_control(cluster, controls_of({0.01 * std::exp(0.04 - d), 0.01 * std::exp(0.04), 0.01 * std::exp(0.04 + d)}));
  EXPECT_NEAR(now.coefficient, 1 - 3e-4 / 1.6e-3, 1e-9);
  EXPECT_NEAR(std::log(now.slower), 0.04 * now.coefficient, 1e-12);
}

TEST(ControlNow, TakesTheScatterOfTheCallsIfThereIsOneControl) {
  // The slowest rank: sd 5 % of 4 calls, so variance of the mean 0.05^2 / 4.
  core::ClusterModel cluster = calibrated();
  const ControlNow now = at_control(cluster, controls_of({0.01 * std::exp(0.05)}, 0.05 * 0.01 * std::exp(0.05)));
  EXPECT_NEAR(now.coefficient, 0.75, 1e-9);
  // A change smaller than its own error counts nothing.
  cluster = calibrated();
  EXPECT_EQ(at_control(cluster, controls_of({0.0101}, 0.005)).slower, 1);
}

TEST(ControlNow, RefusesClustersAndControlsThatCannotBeCompared) {
  core::ClusterModel without = calibrated();
  without.provenance = "{}";
  EXPECT_THAT(error_in([&] { at_control(without, controls_of({0.01})); }), HasSubstr("has no control measurement"));
  core::ClusterModel cluster = calibrated();
  auto controls = controls_of({0.01});
  for (core::ControlRow& row : controls.front()) row.shape = "512x512x512";
  EXPECT_THAT(error_in([&] { at_control(cluster, controls); }), HasSubstr("640x640x640"));
  EXPECT_THAT(error_in([&] { at_control(cluster, {}); }), HasSubstr("at least 1"));
}

TEST(BusyRanks, OneRankPerHostTakesWhatWasMeasuredAlone) {
  core::ClusterModel cluster = calibrated();
  cluster.provenance = R"({"ranks_per_host": 5, "alone": {"dgemm": 0.81, "standard_error": 0, "calls": 50}})";
  const BusyRanks all = with_busy_ranks(cluster, 5);
  EXPECT_TRUE(all.text.empty() && !all.cluster) << "as it was measured";
  const BusyRanks one = with_busy_ranks(cluster, 1);
  EXPECT_THAT(one.text, HasSubstr("they take so many times as long: dgemm 0.810"));
  EXPECT_NEAR(mnk_s(one.cluster.value()), 0.81e-10, 1e-21);
  EXPECT_FALSE(with_busy_ranks(*one.cluster, 1).cluster) << "a second time";
  const BusyRanks three = with_busy_ranks(cluster, 3);
  EXPECT_THAT(three.text, HasSubstr("they take so many times as long, by interpolation: dgemm 0.900"));
  EXPECT_NEAR(mnk_s(three.cluster.value()), 0.9e-10, 1e-21);
  // As many cores, of fewer ranks of more threads: nothing is faster.
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.threads_per_rank = 5;
  cluster.hosts = core::Hosts::make(hosts);
  EXPECT_EQ(with_busy_ranks(cluster, 1).text, "");
}

TEST(BusyRanks, EachKernelTakesWhatItsOwnCallsSay) {
  core::ClusterModel cluster = calibrated();
  cluster.kernels["dtrsm"] = cluster.kernels["daxpy"] = cluster.kernels.at("dgemm");
  cluster.provenance = R"({"ranks_per_host": 5, "alone": {"dgemm": 0.99, "standard_error": 0.02, "calls": 50,
    "kernels": {"dtrsm": {"ratio": 0.64, "standard_error": 0}, "daxpy": {"ratio": 0.9, "standard_error": 0.2},
                "dger": {"ratio": 0.5, "standard_error": 0}, "dcopy": 3}}})";
  const BusyRanks one = with_busy_ranks(cluster, 1);
  EXPECT_THAT(one.text, EndsWith("they take so many times as long: dtrsm 0.640"));
  const auto mean_s = [&](const char* kernel) {
    return one.cluster.value().kernels.at(kernel).cluster_law().at({}).mean_s({1, 1, 1});
  };
  EXPECT_NEAR(mean_s("dtrsm") / mean_s("dgemm"), 0.64, 1e-12);
  EXPECT_EQ(mean_s("daxpy"), mean_s("dgemm")) << "within its own error";
  EXPECT_NEAR(nlohmann::json::parse(with_busy_ranks(cluster, 3).cluster.value().provenance)
                  .at("busy_cores")
                  .at("factors")
                  .at("dtrsm")
                  .get<double>(),
              0.8, 1e-12);
}

/// Predictions of one file are of one model, whatever their ranks per host.
TEST(BusyRanks, ARunIsSimulatedAsFastAsItsHostsAreAndKeepsItsModel) {
  PredictionRequest request;
  request.cluster = calibrated();
  request.cluster.provenance = R"({"ranks_per_host": 2, "alone": {"dgemm": 0.8, "standard_error": 0, "calls": 50}})";
  core::Hosts::Values hosts = request.cluster.hosts.values();
  hosts.cores = 2;
  request.cluster.hosts = core::Hosts::make(hosts);
  request.parameters = {1000, 64, 1, 1};
  const RunPlan one = resolve_unchecked(request);
  request.parameters = {1000, 64, 1, 2};
  const RunPlan two = resolve_unchecked(request);
  EXPECT_NEAR(mnk_s(one.simulated_cluster()), 0.8e-10, 1e-21);
  EXPECT_EQ(mnk_s(two.simulated_cluster()), 1e-10);
  EXPECT_EQ(core::cluster_sha256(one.cluster()), core::cluster_sha256(two.cluster()));
  EXPECT_EQ(mnk_s(one.of_window({}).simulated_cluster()), mnk_s(one.simulated_cluster()));
}

TEST(BusyRanks, AChangeWithinItsOwnErrorDoesNotCount) {
  core::ClusterModel cluster = calibrated();
  cluster.provenance = R"({"ranks_per_host": 2, "alone": {"dgemm": 0.99, "standard_error": 0.02, "calls": 50}})";
  const BusyRanks one = with_busy_ranks(cluster, 1);
  EXPECT_THAT(one.text, HasSubstr("differs by no more than the machine scatters"));
  EXPECT_FALSE(one.cluster);
}

TEST(BusyRanks, WhatWasNotMeasuredIsSaid) {
  core::ClusterModel cluster = calibrated();
  cluster.provenance = R"({"ranks_per_host": 2})";
  const BusyRanks one = with_busy_ranks(cluster, 1);
  EXPECT_THAT(one.text, HasSubstr("2 busy cores per host, and this run has 1: they may be faster"));
  EXPECT_FALSE(one.cluster);
  for (const char* provenance : {"", "{}", R"({"ranks_per_host": "two", "alone": 3})"}) {
    cluster.provenance = provenance;
    EXPECT_EQ(with_busy_ranks(cluster, 1).text, "") << provenance;
  }
}

}  // namespace
}  // namespace hplcast::study
