// Exchanges of HPL: MPI_Irecv, MPI_Send, MPI_Wait of two ranks with each other.
#include <gtest/gtest.h>

#include <array>

#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class Exchanges : public testing::SimulatedCluster {
 protected:
  double time_s(int p, int q, double exchange_s, double exchange_s_per_byte = 0) {
    core::NetworkModel::Values network = request_.cluster.network.values();
    network.local.exchange_s = exchange_s;
    network.local.exchange_s_per_byte = exchange_s_per_byte;
    request_.cluster.network = core::NetworkModel::make(network);
    request_.parameters.P = p;
    request_.parameters.Q = q;
    request_.noise = false;
    return predict(request_).time_s;
  }

  /// Without noise, of fast mode over exact mode.
  double ratio_of_modes(const std::vector<Transformation>& changes) {
    PredictionRequest request = request_;
    request.cluster = transformed(request.cluster, changes);
    request.noise = false;
    request.mode = SimulationMode::exact;
    const double exact_s = predict(request).time_s;
    request.mode = SimulationMode::fast;
    return predict(request).time_s / exact_s;
  }
};

// One exchange per column of the matrix, and one per row swap of the 8 panels. In the last of these only one process
// has rows left: the binary exchange sends them one way. Work between exchanges overlaps a little otherwise.
TEST_F(Exchanges, OfTwoProcessRowsTakeLonger) {
  request_.parameters = {1000, 128};
  request_.parameters.DEPTH = 0;
  for (const bool fast : {false, true}) {
    request_.mode = fast ? SimulationMode::fast : SimulationMode::exact;
    for (const int swap : {0, 1}) {
      request_.parameters.SWAP = swap;
      EXPECT_NEAR(time_s(2, 1, 1) - time_s(2, 1, 0), swap == 0 ? 1007 : 1008, 1e-3) << fast << " " << swap;
    }
  }
}

TEST_F(Exchanges, OfPivotsCarryTheBytesOfTwoRows) {
  request_.parameters = {1000, 128};
  request_.parameters.DEPTH = 0;
  request_.parameters.SWAP = 1;
  request_.mode = SimulationMode::fast;
  // The longer one of each pair has the candidate's row, the current one and four numbers: 8 (2 NB + 4) bytes; rolls
  // move up to NB rows.
  const double pivots = 1000 * 8 * (2 * 128 + 4.0), rows = 128 * 8 * 1000 * 8 / 2.0;
  const double longer_s = time_s(2, 1, 0, 1e-3) - time_s(2, 1, 0);
  EXPECT_GT(longer_s, 0.9e-3 * pivots);
  EXPECT_LT(longer_s, 1e-3 * (pivots + rows));
}

// Whoever waits for messages that scatter waits longer. Fast mode computes exchanges with that, and must not learn it
// from sampled exchanges once more.
TEST_F(Exchanges, OfMessagesThatScatterTakeAsLongInFastMode) {
  core::NetworkModel::Values network = request_.cluster.network.values();
  core::SegmentedLaw& transfer = network.local.cost(core::MessageCost::transfer);
  std::vector<core::Segment> segments = transfer.segments();
  for (core::Segment& segment : segments) segment.sd_s = 2e-6;
  transfer = core::SegmentedLaw::make(segments);
  request_.cluster.network = core::NetworkModel::make(network);
  request_.parameters = {1000, 64, 16, 1};
  request_.parameters.DEPTH = 1;
  std::array<double, 2> took_s{};
  for (const bool fast : {false, true}) {
    request_.mode = fast ? SimulationMode::fast : SimulationMode::exact;
    took_s.at(fast ? 1 : 0) = predict(request_).time_s;
  }
  EXPECT_NEAR(took_s[1] / took_s[0], 1, 1e-3);  // costs of copies between messages are expected ones; once 0.13
}

// The way between hosts of two switches is longer, which fast mode once learned as the mean of all messages.
TEST_F(Exchanges, AcrossSwitchesTakeAsLongInFastMode) {
  request_.parameters = {700, 64, 12, 2};
  request_.parameters.DEPTH = 1;
  for (const Transformation& topology : {Transformation{"fat-tree", "4:2:1"}, Transformation{"torus", "4x4x2"},
                                         Transformation{"dragonfly", "4,1;2,1;4,1;1"}})
    EXPECT_NEAR(ratio_of_modes({{"ranks-per-node", "1"}, topology}), 1, 1e-4) << topology.name;  // once 0.007 to 0.066
}

// Rendezvous messages of two ranks go one way after the other, unless both are sent at the same instant, which ranks do
// in one exchange and not in the next: sampled ones do not tell of others.
TEST_F(Exchanges, OfAHalfDuplexNetworkTakeAsLongInFastMode) {
  core::NetworkModel::Values network = request_.cluster.network.values();
  network.async_small_bytes = network.detached_bytes = 1000;
  network.remote->half_duplex = true;
  request_.cluster.network = core::NetworkModel::make(network);
  request_.parameters = {1000, 128, 8, 2};
  request_.parameters.DEPTH = 1;
  EXPECT_NEAR(ratio_of_modes({{"ranks-per-node", "1"}, {"scale-bandwidth", "0.1"}, {"scale-latency", "0.2"}}), 1,
              1e-4);  // once 0.03
}

// Ranks without rows call dscal, too, where others have found a pivot.
TEST_F(Exchanges, OfRanksWithoutRowsLeaveNoCallOut) {
  request_.cluster.empty_call_s = {{"dscal", 2e-6}};
  request_.parameters = {1000, 100, 16, 1};
  EXPECT_NEAR(ratio_of_modes({{"ranks-per-node", "4"}}), 1, 5e-4);  // once 0.03
}

TEST_F(Exchanges, AreNoneOnOneProcessRow) {
  request_.parameters = {1000, 128};
  EXPECT_EQ(time_s(1, 2, 1), time_s(1, 2, 0));
}

}  // namespace
}  // namespace hplcast::study
