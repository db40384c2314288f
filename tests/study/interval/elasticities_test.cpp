// Elasticities from simulations, against those without; intervals of several seeds.
#include <gtest/gtest.h>

#include <algorithm>

#include "hplcast/study/history_models.hpp"
#include "hplcast/study/interval.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

using SimulatedElasticities = testing::SimulatedCluster;

TEST_F(SimulatedElasticities, AreNearThoseOfTheClosedForm) {
  request_.parameters.N = 3000;
  request_.parameters.Q = 2;
  const RunPlan plan = resolve(request_);
  core::Prediction prediction = predict(plan);
  const Elasticities simulated = simulated_elasticities(plan, prediction);
  const Elasticities closed = closed_form_elasticities(plan.cluster(), prediction);
  // docs/models/interval.md: within 0.04 where hardly any time is in messages.
  for (std::size_t i = 0; i < simulated.size(); ++i) EXPECT_NEAR(simulated[i], closed[i], 0.05) << i;
  EXPECT_NEAR(simulated[0] + simulated[2] + simulated[3], 1, 1e-12);
  EXPECT_GT(simulated[0], 0.7);
}

TEST_F(SimulatedElasticities, AreOfTheSameWindowsWhereOthersWereAdded) {
  request_.parameters.N = 6000;
  request_.parameters.NB = 32;
  request_.parameters.P = request_.parameters.Q = 2;
  request_.windows = WindowRule::from("2");
  const RunPlan plan = resolve(request_);
  const core::Prediction few = predict(plan);
  request_.target_error = 0.9 * few.error_95_s / few.time_s;
  const RunPlan plan_of_more = resolve(request_);
  const core::Prediction more = predict(plan_of_more);
  ASSERT_NE(more.time_s, few.time_s);
  const Elasticities expected = simulated_elasticities(plan, few);
  const Elasticities found = simulated_elasticities(plan_of_more, more);
  for (const std::size_t i : {0, 2, 3}) EXPECT_EQ(found[i], expected[i]) << i;  // [1] has the shares of dgemm
}

TEST_F(SimulatedElasticities, AreOnceForAllSeedsOfAConfiguration) {
  request_.parameters.N = 1000;
  std::vector<RunPlan> plans;
  std::vector<core::Prediction> predictions;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    request_.seed = seed;
    plans.push_back(resolve(request_));
    predictions.push_back(predict(plans.back()));
  }
  IntervalRequest request;
  request.simulated_elasticities = true;
  add_intervals(plans, request, predictions);
  for (const core::Prediction& one : predictions) {
    EXPECT_EQ(one.interval->elasticities, "simulated");
    EXPECT_EQ(one.interval->terms.front().elasticity, predictions.front().interval->terms.front().elasticity);
    EXPECT_LT(one.interval->low_time_s, one.time_s);
    EXPECT_GT(one.interval->high_time_s, one.time_s);
  }
}

TEST_F(SimulatedElasticities, OfRandomDaysLeaveTheTermOfDaysToThreeSeeds) {
  request_.parameters.N = 1000;
  request_.cluster.uncertainty.emplace().between_days = core::EstimatedSd{0.05, 2};
  const core::ClusterModel base = request_.cluster;
  std::vector<RunPlan> plans;
  std::vector<core::Prediction> predictions;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    request_.seed = seed;
    request_.cluster = on_random_day(base, seed);
    plans.push_back(resolve(request_));
    predictions.push_back(predict(plans.back()));
    IntervalRequest request;
    request.random_days = true;
    add_intervals(plans, request, predictions);
    for (const core::Prediction& one : predictions) {
      const auto& terms = one.interval->terms;
      const auto days = std::find_if(terms.begin(), terms.end(), [](const auto& term) { return term.name == "days"; });
      ASSERT_NE(days, terms.end());
      EXPECT_NEAR(days->sd, seed < 3 ? 0.05 * terms.front().elasticity.value() : 0, 1e-12) << "dgemm is the first";
    }
  }
}

}  // namespace
}  // namespace hplcast::study
