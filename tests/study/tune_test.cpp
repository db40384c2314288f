// Tuning with the real simulator, against all candidates predicted at the full size.
#include <gtest/gtest.h>

#include <algorithm>

#include "hplcast/study/tune.hpp"
#include "simulated_cluster.hpp"

namespace hplcast::study {
namespace {

class Tune : public testing::SimulatedCluster {};

TEST_F(Tune, FindsAConfigurationNearTheBestOfAllWithinItsBudget) {
  TuneRequest request;
  request.cluster = request_.cluster;
  request.programs = request_.programs;
  request.N = 6000;
  request.grids = {{2, 4}};
  request.NB = {64, 256};
  request.SWAP = {1};
  request.BCAST = {0, 3};
  request.budget_s = 60;
  const TuneResult result = tune(request);
  EXPECT_TRUE(result.failures.empty());
  EXPECT_LT(result.wall_s, 75);  // the budget, and one prediction that was running
  EXPECT_EQ(result.best.N, 6000);
  EXPECT_TRUE(result.not_tried.empty());
  EXPECT_GT(result.baselines.peak, result.ranking.front().mean_gflops);

  double best = 0, chosen = 0;
  for (const TunedConfiguration& entry : result.ranking) {
    PredictionRequest single = request_;
    single.parameters = entry.parameters;
    single.parameters.N = 6000;
    const double gflops = predict(single).gflops;
    best = std::max(best, gflops);
    if (single.parameters == result.best) chosen = gflops;
  }
  EXPECT_EQ(result.ranking.size(), 8U);
  EXPECT_GT(chosen, 0.99 * best);  // the limit
}

}  // namespace
}  // namespace hplcast::study
