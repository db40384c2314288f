// Panels of HPL, which it describes by an MPI datatype, have costs of their own in the network.
#include <gtest/gtest.h>

#include "hplcast/study/predict.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class PanelMessages : public testing::SimulatedCluster {
 protected:
  /// Simulated time if panels take so many seconds longer than other messages; nothing: without a law of their own.
  double time_s(int p, int q, std::optional<double> longer_s) {
    core::NetworkModel::Values network = request_.cluster.network.values();
    network.local.panels.reset();
    if (longer_s) {
      std::vector<core::Segment> segments = network.local.cost(core::MessageCost::transfer).segments();
      for (core::Segment& segment : segments) segment.intercept_s += *longer_s;
      network.local.panels = core::SegmentedLaw::make(segments);
    }
    request_.cluster.network = core::NetworkModel::make(network);
    request_.parameters = {1000, 128, p, q};
    request_.parameters.DEPTH = 0;
    return predict(request_).time_s;
  }
};

// Without look-ahead nobody works while a panel is on its way: there are 8 of them.
TEST_F(PanelMessages, TakeTheTimeOfTheirLawAndOthersDoNot) {
  EXPECT_EQ(time_s(1, 2, 0), time_s(1, 2, std::nullopt));
  request_.noise = false;
  EXPECT_NEAR(time_s(1, 2, 1) - time_s(1, 2, 0), 8, 1e-6);
  for (const int swap : {0, 1}) {
    request_.parameters.SWAP = swap;
    EXPECT_EQ(time_s(2, 1, 1), time_s(2, 1, std::nullopt)) << "one process column sends no panels";
  }
}

}  // namespace
}  // namespace hplcast::study
