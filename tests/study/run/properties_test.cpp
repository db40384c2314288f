// What holds for every cluster and every configuration of HPL: random ones, each named by its seed. The runtime checks
// more of them itself (smpi-models/session/invariants.hpp; ctest sets HPLCAST_CHECKS).
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class Property : public testing::SimulatedCluster, public ::testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    setenv("HPLCAST_CHECKS", "on", 1);
    random_.seed(GetParam());
    draw_cluster();
    draw_parameters();
    request_.seed = GetParam();
    request_.mode = any_of<SimulationMode>({SimulationMode::exact, SimulationMode::fast});
  }

  template <typename T>
  T any_of(const std::vector<T>& values) {
    return values[random_() % values.size()];
  }
  int between(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }

  core::Prediction predict_with(const std::vector<Transformation>& changes) {
    PredictionRequest request = request_;
    request.cluster = transformed(request_.cluster, changes);
    return predict(request);
  }

 private:
  /// 32 hosts with some ranks each; powers of two leave digits alone where all times are scaled.
  void draw_cluster() {
    request_.cluster = transformed(
        request_.cluster,
        {
            {"ranks-per-node", any_of<std::string>({"1", "2", "4", "32"})},
            {"scale-bandwidth", any_of<std::string>({"1", "0.25", "0.0625"})},
            {"scale-capacity", any_of<std::string>({"1", "2", "16"})},
            {"scale-latency", any_of<std::string>({"1", "0.125"})},
            any_of<Transformation>(
                {{"single-switch", "yes"}, {"fat-tree", "8:2:1"}, {"torus", "4x4x2"}, {"dragonfly", "4,1;2,1;4,1;1"}}),
            any_of<Transformation>({{"scale-network-noise", "0"}, {"scale-network-noise", "1"}}),
        });
    core::NetworkModel::Values network = request_.cluster.network.values();
    network.growing_probes = false;
    network.async_small_bytes = any_of<std::uint64_t>({0, 1000, 65536});
    network.detached_bytes = network.async_small_bytes + any_of<std::uint64_t>({0, 20000});
    request_.cluster.network = core::NetworkModel::make(network);
  }

  void draw_parameters() {
    core::HplParameters& hpl = request_.parameters;
    hpl.P = between(1, 6);
    hpl.Q = between(1, 5);
    hpl.NB = between(24, 130);
    hpl.N = between(500, 2000);
    hpl.PMAP = between(0, 1);
    hpl.PFACT = between(0, 2);
    hpl.RFACT = between(0, 2);
    hpl.NBMIN = between(1, 9);
    hpl.NDIV = between(2, 4);
    hpl.BCAST = between(0, 5);
    hpl.DEPTH = between(0, 1);
    hpl.SWAP = between(0, 2);
    hpl.L1 = between(0, 1);
    hpl.U = between(0, 1);
  }

  std::mt19937 random_;
};

TEST_P(Property, TheSameSeedGivesTheSameDigitsAndNoRankIsIdleBelowItsWork) {
  const core::Prediction first = predict_with({});
  EXPECT_EQ(predict_with({}).time_s, first.time_s);
  double work_s = 0;
  for (const auto& [name, kernel] : first.kernels) work_s += kernel.time_s;
  // The slowest rank has at least the mean work; a single rank has all of it, summed in another order.
  EXPECT_GE(first.time_s, (1 - 1e-9) * work_s / (request_.parameters.P * request_.parameters.Q));
}

TEST_P(Property, TwiceTheSpeedOfEverythingHalvesTheTime) {
  const double before_s = predict_with({}).time_s;
  // Every time is scaled by a power of two, exactly; SimGrid's resolution, 1e-12 s, is not, some thousand times.
  EXPECT_NEAR(predict_with({{"scale-all", "2"}}).time_s, before_s / 2, 1e-9 * before_s + 1e-9);
}

TEST_P(Property, MoreWorkTakesMoreTimeButNotMoreThanThatMuch) {
  request_.noise = false;
  request_.cluster = transformed(request_.cluster, {{"scale-network-noise", "0"}});
  request_.mode = SimulationMode::exact;
  const double before_s = predict_with({}).time_s;
  const double slower_s = predict_with({{"scale-kernels", "0.5"}}).time_s;
  // Other orders of events alone move exact mode by up to 0.7 % (docs/measurements/fast-mode.md).
  EXPECT_GE(slower_s, 0.993 * before_s);
  EXPECT_LE(slower_s, 2.0 / 0.993 * before_s);
}

INSTANTIATE_TEST_SUITE_P(OfRandomClusters, Property, ::testing::Range(1U, 17U));

}  // namespace
}  // namespace hplcast::study
