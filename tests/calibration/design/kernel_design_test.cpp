#include "hplcast/calibration/hpl_design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::calibration {
namespace {

TEST(KernelDesign, HasEveryKindOfGridWithEverySizeOnce) {
  KernelDesignOptions options;
  options.max_size = 6000;
  options.ranks = 12;
  options.sizes = 3;
  std::multiset<std::vector<long>> runs;
  for (const core::HplParameters& run : make_kernel_design(options)) {
    EXPECT_EQ(run.NB, 128);
    runs.insert({static_cast<long>(run.N), run.P, run.Q});
  }
  std::multiset<std::vector<long>> expected;
  for (const long N : {2000, 4000, 6000}) {
    for (const auto& [P, Q] : std::vector<std::pair<long, long>>{{1, 1}, {1, 12}, {12, 1}, {3, 4}})
      expected.insert({N, P, Q});
  }
  EXPECT_EQ(runs, expected);
  options.ranks = 1;
  EXPECT_EQ(make_kernel_design(options).size(), 3U);
}

TEST(KernelDesign, OrderComesFromTheSeed) {
  KernelDesignOptions options;
  options.ranks = 12;
  options.sizes = 6;
  const auto first = make_kernel_design(options);
  EXPECT_EQ(first, make_kernel_design(options));
  options.seed = 2;
  EXPECT_NE(first, make_kernel_design(options));
}

TEST(KernelDesign, IsWrittenAsATableOfRuns) {
  KernelDesignOptions options;
  options.sizes = 1;
  std::ostringstream out;
  write_design(out, make_kernel_design(options));
  EXPECT_EQ(out.str(), "N,NB,P,Q\n5000,128,1,1\n");
}

/// The smallest run of both grids with the most ranks.
TEST(KernelDesign, PairsOfAliasedRunsDifferInTheLeadingDimensionAlone) {
  std::vector<core::HplParameters> runs(4);
  runs[0].P = 2;
  runs[0].N = 5000;
  runs[1] = runs[0];
  runs[1].N = 1900;
  runs[1].PFACT = 2;
  runs[2].Q = 2;
  runs[2].N = 9000;
  runs[2].NB = 256;
  runs[3].N = 1000;
  const std::vector<core::HplParameters> design = make_aliased_design(runs);
  ASSERT_EQ(design.size(), 36U);
  for (std::size_t i = 0; i < design.size(); ++i) {
    core::HplParameters run = design[i];
    EXPECT_EQ(run.N, run.P == 2 ? 1900 : 2048) << "4 panels of 256 for each process of the longer side";
    EXPECT_EQ(run.PFACT, run.P == 2 ? 2 : 1);
    for (const int rank : {0, 1}) {
      const long apart = core::columns_apart_bytes(core::leading_dimension(run, rank));
      EXPECT_EQ(apart, i % 2 == 1 ? 64 : 4096 << (i / 2 % 3)) << i;
    }
    if (i % 2 == 1) continue;
    run.ALIGN = design[i + 1].ALIGN;
    EXPECT_EQ(run, design[i + 1]);
  }
  std::ostringstream out;
  write_design(out, {design[0]});
  EXPECT_EQ(out.str(), "N,NB,P,Q,ALIGN\n2048,256,1,2,2560\n");
  EXPECT_TRUE(make_aliased_design({}).empty());
}

TEST(KernelDesign, RefusesImpossibleNumbers) {
  KernelDesignOptions options;
  options.ranks = 0;
  EXPECT_THAT(tests::error_in([&] { make_kernel_design(options); }), ::testing::HasSubstr("expected 1 to 2^31 - 1"));
  options.ranks = 1;
  options.max_size = 99999999999;
  EXPECT_THAT(tests::error_in([&] { make_kernel_design(options); }), ::testing::HasSubstr("max size"));
}

}  // namespace
}  // namespace hplcast::calibration
