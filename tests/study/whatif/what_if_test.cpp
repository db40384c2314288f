// What-if changes whose effect on HPL is known before the simulation.
#include <gtest/gtest.h>

#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class WhatIf : public testing::SimulatedCluster {
 protected:
  core::Prediction predict_with(const std::vector<Transformation>& changes, int P, int Q, long long N) {
    PredictionRequest request = request_;
    request.cluster = transformed(request_.cluster, changes);
    request.parameters.N = N;
    request.parameters.P = P;
    request.parameters.Q = Q;
    return predict(request);
  }
};

TEST_F(WhatIf, TwiceTheSpeedOfEverythingHalvesTheTime) {
  core::NetworkModel::Values network = request_.cluster.network.values();
  for (core::ScopeModel* scope : {&network.local, &*network.remote}) {
    scope->first_use_s_per_byte = 1e-9;
    scope->exchange_s = 1e-6;
  }
  request_.cluster.network = core::NetworkModel::make(network);
  const double before_s = predict_with({}, 4, 8, 3000).time_s;
  const double after_s = predict_with({{"scale-all", "2"}}, 4, 8, 3000).time_s;
  // Every time is scaled by a power of two, exactly; SimGrid's resolution, 1e-12 s of some 50 ms, is not.
  EXPECT_NEAR(after_s, before_s / 2, 1e-9 * before_s / 2);
}

TEST_F(WhatIf, NoVariabilityEqualsTheDeterministicRun) {
  const auto changed = predict_with({{"kernels-temporal-cv", "0"}, {"scale-network-noise", "0"}}, 4, 4, 1500);
  request_.noise = false;
  EXPECT_EQ(changed.time_s, predict_with({}, 4, 4, 1500).time_s);
}

TEST_F(WhatIf, WithoutAnInfinitelySlowNodeTheRestIsAsFastAsBefore) {
  // One rank a host: 8 hosts make a 2 x 4 grid, with the slow one in it or without it.
  const std::vector<Transformation> eight = {{"ranks-per-node", "1"}, {"remove-nodes", "24:fastest"}};
  const double before_s = predict_with(eight, 2, 4, 1500).time_s;
  request_.cluster = transformed(request_.cluster, eight);
  core::KernelModel& dgemm = request_.cluster.kernels.at("dgemm");
  const core::DurationLaw stalled =
      core::DurationLaw::make(core::Polynomial::make({{1, 1, 1}}, {1e3}), {}, core::NoiseFamily::none);
  // A ninth host, stalled, that stands second.
  core::Hosts::Values hosts = request_.cluster.hosts.values();
  const std::vector<std::string> names = request_.cluster.hosts.names();
  hosts.names = names[0] + ",stalled";
  for (std::size_t i = 1; i < names.size(); ++i) hosts.names += "," + names[i];
  request_.cluster.hosts = core::Hosts::make(hosts);
  std::vector<core::CpuLaw> laws = dgemm.overrides();
  for (core::CpuLaw& law : laws) law.host += law.host >= 1 ? 1 : 0;
  laws.push_back({1, 0, core::PiecewiseLaw(stalled)});
  dgemm = core::KernelModel::make(dgemm.level(), dgemm.cluster_law(), laws, dgemm.range());
  EXPECT_GT(predict_with({}, 2, 4, 300).time_s, 1000 * before_s);
  EXPECT_EQ(predict_with({{"remove-nodes", "1:slowest"}}, 2, 4, 1500).time_s, before_s);
}

TEST_F(WhatIf, AFatTreeIsASwitchWithFullBisectionAndSlowerWithLess) {
  // A slow network on the paths between hosts, so that switches matter; one rank a host and 8 hosts a leaf switch.
  request_.cluster = transformed(request_.cluster, {{"ranks-per-node", "1"}, {"scale-bandwidth", "0.05"}});
  request_.noise = false;
  const double one_switch_s = predict_with({}, 4, 8, 8000).time_s;
  const double full_s = predict_with({{"fat-tree", "8:8:1"}}, 4, 8, 8000).time_s;
  // Not equal: flows to hosts with the same place under their leaf switches share one way up.
  EXPECT_NEAR(full_s, one_switch_s, 0.01 * one_switch_s);
  // With look-ahead, a message that is held up can make way for one that all wait for.
  request_.parameters.DEPTH = 0;
  const double tall_s = predict_with({}, 8, 4, 8000).time_s;
  double previous_s = tall_s;
  for (const char* switches : {"8", "4", "2", "1"}) {
    const double time_s = predict_with({{"fat-tree", "8:8:1"}, {"top-switches", switches}}, 8, 4, 8000).time_s;
    RecordProperty(std::string("overhead_percent_with_") + switches, std::to_string(100 * (time_s / tall_s - 1)));
    EXPECT_GE(time_s, previous_s * (1 - 1e-3)) << switches;  // polling moves times by less than that
    previous_s = time_s;
  }
  EXPECT_GT(previous_s, 1.05 * tall_s);
}

TEST_F(WhatIf, EveryTopologyRuns) {
  request_.cluster = transformed(request_.cluster, {{"ranks-per-node", "1"}});
  for (const Transformation& topology :
       {Transformation{"torus", "4x4x2"}, Transformation{"dragonfly", "2,4;2,2;4,1;2"}}) {
    EXPECT_GT(predict_with({topology}, 4, 8, 1000).time_s, 0) << topology.name;
  }
  // SimGrid refuses two links of a host to itself.
  EXPECT_GT(predict_with({{"remove-nodes", "30"}, {"torus", "2x1x1"}}, 1, 2, 1000).time_s, 0);
  EXPECT_GT(predict_with({{"remove-nodes", "28"}, {"torus", "1x2x1x2"}}, 2, 2, 1000).time_s, 0);
}

}  // namespace
}  // namespace hplcast::study
