// Times to the last digit on every topology: what a change of the code, of the compiler or of SimGrid must not move
// unnoticed. Made with SimGrid 3.32 on Debian 12; 4.0 (Debian 13) gives the same. A change that moves them on purpose
// says why in its commit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "hplcast/core/csv.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

/// One rank on each host, so that all messages cross the network.
struct Golden {
  const char* name;
  std::vector<Transformation> network;
  int P, Q;
  std::uint64_t seed;
  SimulationMode mode;
  bool direct_messages, growing_probes;
  std::string time_s;  // with all digits
};

std::ostream& operator<<(std::ostream& out, const Golden& golden) {
  return out << golden.name;
}

class GoldenTime : public testing::SimulatedCluster, public ::testing::WithParamInterface<Golden> {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    std::string line;
    std::ifstream source(HPLCAST_BINARY_DIR "/hpl-source/HPLCAST_SOURCE");
    std::getline(source, line);
    // Other versions of HPL make other calls.
    if (line != "variant=hpcc-hpl-2.0") GTEST_SKIP() << "skipped: digits are those of HPL 2.0 of hpcc, not of " << line;
  }
};

TEST_P(GoldenTime, IsWhatItWas) {
  const Golden& golden = GetParam();
  request_.cluster = transformed(request_.cluster, {{"ranks-per-node", "1"}});
  request_.cluster = transformed(request_.cluster, golden.network);
  core::NetworkModel::Values network = request_.cluster.network.values();
  network.growing_probes = golden.growing_probes;
  request_.cluster.network = core::NetworkModel::make(network);
  request_.parameters.N = 1500;
  request_.parameters.P = golden.P;
  request_.parameters.Q = golden.Q;
  request_.parameters.DEPTH = 1;
  request_.seed = golden.seed;
  request_.mode = golden.mode;
  request_.diagnosis.direct_messages = golden.direct_messages;
  EXPECT_EQ(core::shortest(predict(request_).time_s), golden.time_s);
}

constexpr auto exact = SimulationMode::exact;
constexpr auto fast = SimulationMode::fast;

INSTANTIATE_TEST_SUITE_P(
    OnEveryTopology, GoldenTime,
    ::testing::Values(
        Golden{"switch_exact", {}, 4, 8, 1, exact, true, false, "0.027183212906631123"},
        Golden{"switch_fast", {}, 8, 4, 2, fast, true, false, "0.030019792941969367"},
        Golden{"switch_smpi", {}, 4, 4, 1, exact, false, false, "0.028490496966385875"},
        Golden{"switch_growing_probes", {}, 2, 4, 2, exact, true, true, "0.03310358676333006"},
        Golden{"fat_tree_exact", {{"fat-tree", "8:8:1"}}, 4, 8, 1, exact, true, false, "0.03031234707358844"},
        Golden{"fat_tree_fast", {{"fat-tree", "8:8:1"}}, 8, 4, 2, fast, true, false, "0.03396487796148937"},
        Golden{"fat_tree_smpi", {{"fat-tree", "8:8:1"}}, 4, 4, 1, exact, false, false, "0.029931182845620262"},
        Golden{"torus_exact", {{"torus", "4x4x2"}}, 4, 8, 1, exact, true, false, "0.02676006503358839"},
        Golden{"torus_fast", {{"torus", "4x4x2"}}, 8, 4, 2, fast, true, false, "0.028941560496529312"},
        Golden{"torus_smpi", {{"torus", "4x4x2"}}, 4, 4, 1, exact, false, false, "0.02738620821935856"},
        Golden{
            "dragonfly_exact", {{"dragonfly", "4,1;2,1;4,1;1"}}, 4, 8, 1, exact, true, false, "0.032294066925933756"},
        Golden{"dragonfly_fast", {{"dragonfly", "4,1;2,1;4,1;1"}}, 8, 4, 2, fast, true, false, "0.03755718473166218"},
        Golden{
            "dragonfly_smpi", {{"dragonfly", "4,1;2,1;4,1;1"}}, 4, 4, 1, exact, false, false, "0.03196234033722742"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hplcast::study
