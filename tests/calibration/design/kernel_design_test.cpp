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
