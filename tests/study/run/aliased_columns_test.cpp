// Columns of a rank's matrix that are a multiple of 4096 bytes apart, in simulated runs: HPL's own leading dimension.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/study/predict.hpp"
#include "hplcast/study/resolve.hpp"
#include "tests/study/simulated_cluster.hpp"

namespace hplcast::study {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class AliasedColumns : public testing::SimulatedCluster {
 protected:
  void SetUp() override {
    SimulatedCluster::SetUp();
    if (IsSkipped()) return;
    request_.noise = false;
    request_.parameters.N = 3000;  // 1536 rows, 3 times 4096 bytes, and 1464
    request_.parameters.P = 2;
  }
  double dgemm_s(const PredictionRequest& request) { return predict(request).kernels.at("dgemm").time_s; }
  void be_slow(long bytes) { request_.cluster.aliased = {{bytes, {{"dgemm", {2, 0}}}}}; }
};

TEST_F(AliasedColumns, AreThoseOfTheRanksThatHplGivesThem) {
  const double plain_s = dgemm_s(request_);
  be_slow(4096);
  EXPECT_NEAR(dgemm_s(request_) / plain_s, 1 + 1536 / 3000., 0.02) << "one row of two";
  EXPECT_THAT(resolve(request_).warnings(), Contains(HasSubstr("dgemm takes 2.00 times as long; ALIGN=40 avoids it")));
  request_.parameters.ALIGN = 40;
  EXPECT_EQ(dgemm_s(request_), plain_s);
  EXPECT_THAT(resolve(request_).warnings(), Not(Contains(HasSubstr("avoids it"))));
  request_.parameters.ALIGN = 3 * 512;
  EXPECT_NEAR(dgemm_s(request_) / plain_s, 2, 1e-9) << "both rows";
  be_slow(8192);
  EXPECT_EQ(dgemm_s(request_), plain_s) << "4096 is no multiple of that";
}

TEST_F(AliasedColumns, AreThoseOfTheWholeMatrixInASampledWindow) {
  request_.parameters.N = 6100;  // 3072 rows and 3028
  request_.mode = SimulationMode::fast;
  request_.windows = {WindowRule::Kind::as_given, 2, 20, 0, 4};
  const double plain_s = predict(request_).time_s;
  be_slow(4096);
  const double slow_s = predict(request_).time_s;
  request_.parameters.ALIGN = 40;
  EXPECT_NEAR(predict(request_).time_s, plain_s, 1e-9 * plain_s);
  EXPECT_GT(slow_s, 1.5 * plain_s) << "all wait for the slow row";
}

}  // namespace
}  // namespace hplcast::study
