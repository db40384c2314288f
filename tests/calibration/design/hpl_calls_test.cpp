#include "hplcast/calibration/hpl_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hplcast/calibration/mpi_design.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;

TEST(LocalRows, DealsBlocksInTurn) {
  // 10 rows in blocks of 3 on 2 processes: rows 0-2 and 6-8 on the first, 3-5 and 9 on the second.
  EXPECT_EQ(core::local_rows(10, 3, 0, 2), 6);
  EXPECT_EQ(core::local_rows(10, 3, 1, 2), 4);
  for (long rows = 0; rows < 50; ++rows) {
    long total = 0;
    for (int process = 0; process < 3; ++process) total += core::local_rows(rows, 4, process, 3);
    EXPECT_EQ(total, rows);
  }
}

TEST(HplUpdateShapes, AreThoseOfASmallRunByHand) {
  // N=6, NB=2 on one process: below the panels 4, 2 and 0 rows; right of them 5, 3 and 1 columns (with the right-hand
  // side).
  const std::vector<DgemmShape> shapes = hpl_update_shapes({6, 2, 1, 1});
  EXPECT_THAT(shapes, ElementsAre(DgemmShape{2, 3, 2}, DgemmShape{4, 5, 2}));
}

TEST(HplUpdateShapes, FollowTheGrid) {
  for (const DgemmShape& shape : hpl_update_shapes({10000, 100, 8, 1})) {
    EXPECT_LE(shape.m, 1300);
    EXPECT_GE(shape.n, 1);
    EXPECT_EQ(shape.k, 100);
  }
  const std::vector<DgemmShape> shapes = hpl_update_shapes({10000, 100, 8, 1});
  EXPECT_TRUE(std::any_of(shapes.begin(), shapes.end(), [](const DgemmShape& s) { return s.n > 5 * s.m; }));
}

TEST(HplMessageBytes, HaveWhatHplSends) {
  // 2 x 2, N=1000, NB=100: pivot rows of 104 and 204 doubles; the first panel of the first process: 400 rows below
  // it, L1 100 x 100, 100 pivots, 1 flag; U 100 x 401 columns (400 and the right-hand side).
  const std::vector<long> sizes = hpl_message_bytes({1000, 100, 2, 2});
  for (const long doubles : {104L, 204L, 100L, 400L * 100 + 100 * 100 + 101, 100L * 401, 50L * 401}) {
    EXPECT_THAT(sizes, Contains(8 * doubles)) << doubles;
  }
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_TRUE(hpl_message_bytes({1000, 100, 1, 1}).empty());
}

TEST(HplCalls, RefuseWhatIsNoRun) {
  EXPECT_THAT(error_in([] { hpl_update_shapes({0, 1, 1, 1}); }), HasSubstr("`N`"));
  EXPECT_THAT(error_in([] { hpl_update_shapes({10, 11, 1, 1}); }), HasSubstr("`NB`"));
  EXPECT_THAT(error_in([] { hpl_message_bytes({10, 2, 0, 1}); }), HasSubstr("`P`"));
  EXPECT_THAT(error_in([] { hpl_message_bytes({10, 2, 1, 0}); }), HasSubstr("`Q`"));
}

TEST(DesignForHpl, HasOnlyShapesOfTheRunAndSpreadsThemEvenly) {
  DgemmDesignOptions options;
  options.updates = hpl_update_shapes({20000, 128, 4, 1});
  options.minority = 0;
  options.count = 100;
  options.repetitions = 1;
  const std::set<DgemmShape> of_run(options.updates.begin(), options.updates.end());
  double sum = 0, largest = 0;
  for (const DgemmCall& call : make_dgemm_design(options)) {
    DgemmShape shape = call.shape;
    EXPECT_EQ(shape.k, 128);
    EXPECT_EQ(of_run.count(shape), 1u) << shape.m << " x " << shape.n;
    sum += flop(shape);
    largest = std::max(largest, flop(shape));
  }
  // Uniform: the mean is half of the largest; one stratum of a hundred and the spacing of the shapes (2 percent) off.
  EXPECT_NEAR(sum / 100 / largest, 0.5, 0.03);
}

TEST(DesignForHpl, HasOnlyMessagesOfTheRun) {
  MpiDesignOptions options;
  options.among = hpl_message_bytes({20000, 128, 2, 2});
  options.operations = {MpiOperation::pingpong};
  std::set<long> seen;
  for (const MpiCall& call : make_mpi_design(options)) {
    EXPECT_THAT(options.among, Contains(call.size_bytes));
    seen.insert(call.size_bytes);
  }
  EXPECT_EQ(*seen.begin(), options.among.front());
  EXPECT_EQ(*seen.rbegin(), options.among.back());
}

}  // namespace
}  // namespace hplcast::calibration
