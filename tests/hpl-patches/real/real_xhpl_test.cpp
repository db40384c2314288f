// The real xhpl under mpirun, and the rows of the instrumented one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/environment.h"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/text.hpp"
#include "tests/hpl-patches/runs.hpp"
#include "tests/hpl-patches/totals.hpp"

namespace hplcast::hpl_patches {
namespace {

using ::testing::HasSubstr;

class RealXhpl : public ::testing::Test {
 protected:
  core::CommandResult instrumented(const core::HplParameters& parameters,
                                   std::map<std::string, std::string> more = {}) {
    write_dat(folder_.path(), parameters, false);
    more.insert({"HPLCAST_KERNEL_TRACE", (folder_ / "trace").string()});
    return mpirun(folder_.path(), "xhpl-instrumented", parameters.P * parameters.Q, more);
  }

  std::vector<core::KernelMeasurement> rows_of(int rank) const {
    const std::string name = "trace-" + std::to_string(rank) + ".csv";
    std::vector<core::KernelMeasurement> rows;
    core::read_file(folder_ / name, [&](std::istream& in, const std::string& path) {
      core::read_kernel_csv(in, path, "", [&](const core::KernelMeasurement& row) { rows.push_back(row); });
    });
    return rows;
  }

  std::map<std::string, KernelTotal> totals_of(int rank) const {
    return read_totals(folder_ / ("trace-" + std::to_string(rank) + ".totals.csv"));
  }

  ScratchFolder folder_;
};

TEST_F(RealXhpl, PassesItsResidualCheckOnTwoRanks) {
  for (const auto& [p, q] : {std::pair{1, 2}, {2, 1}}) {
    write_dat(folder_.path(), configuration(500, 32, p, q), true);
    const auto result = mpirun(folder_.path(), "xhpl", 2);
    ASSERT_EQ(result.status, 0) << result.output;
    const auto runs = runs_in(result.output);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_TRUE(runs[0].residual_passed) << result.output;
  }
}

TEST_F(RealXhpl, PrintsItsTimeWithAllDigits) {
  write_dat(folder_.path(), configuration(200, 32, 1, 1), false);
  const auto runs = runs_in(mpirun(folder_.path(), "xhpl", 1).output);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_GT(runs[0].time_s, 0) << "HPL itself prints 0.00";
  // 12 digits are printed.
  EXPECT_NEAR(runs[0].gflops * runs[0].time_s * 1e9 / core::hpl_flop(200), 1, 1e-10);
}

TEST_F(RealXhpl, StopsWithAMessageWithoutHplDat) {
  const auto result = mpirun(folder_.path(), "xhpl", 2);
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("HPL.dat"));
}

TEST_F(RealXhpl, StopsWithAMessageForAGridOfMoreRanksThanItHas) {
  write_dat(folder_.path(), configuration(100, 32, 2, 2), false);
  const auto result = mpirun(folder_.path(), "xhpl", 1);
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("Need at least 4 processes"));
}

TEST_F(RealXhpl, InstrumentedWritesEveryCallBelowTheLimit) {
  ASSERT_EQ(instrumented(configuration(300, 32, 1, 2)).status, 0);
  for (const int rank : {0, 1}) {
    std::map<std::string, long long> counted;
    for (const auto& row : rows_of(rank)) {
      ++counted[row.kernel];
      EXPECT_EQ(row.content, "hpl");
      EXPECT_FALSE(row.host.empty());
      EXPECT_TRUE(core::kernel_from_name(row.kernel) || core::ends_with(row.kernel, HPLCAST_EMPTY_CALLS)) << row.kernel;
    }
    for (const auto& [kernel, total] : totals_of(rank)) {
      if (kernel != "clock" && !core::ends_with(kernel, HPLCAST_EMPTY_CALLS)) {
        EXPECT_EQ(counted[kernel], total.calls) << kernel;
      }
    }
    EXPECT_GT(counted["dgemm"], 0);
    EXPECT_GT(counted["dlocswpT"], 0);
    EXPECT_GT(counted["dgemm_empty"], 0) << "without work, at most 100";
  }
}

TEST_F(RealXhpl, InstrumentedCountsTheFlopOfTheFactorisation) {
  const auto parameters = configuration(1000, 64, 1, 1);
  ASSERT_EQ(instrumented(parameters).status, 0);
  double flop = 0;
  for (const auto& [kernel, total] : totals_of(0)) flop += total.flop;
  // Kernels of the set-up or of the check would show here; 1 percent covers the terms of order N NB.
  EXPECT_NEAR(flop / core::hpl_flop(1000), 1, 0.01);
}

TEST_F(RealXhpl, InstrumentedTellsTheMeanTimeInKernels) {
  const auto result = instrumented(configuration(300, 32, 2, 1));
  const auto runs = runs_in(result.output);
  ASSERT_EQ(runs.size(), 1U) << result.output;
  double sum_s = 0;
  for (const int rank : {0, 1})
    for (const auto& [kernel, total] : totals_of(rank)) sum_s += kernel == "clock" ? 0 : total.total_s;
  ASSERT_TRUE(runs[0].kernels_s) << result.output;
  EXPECT_NEAR(*runs[0].kernels_s, sum_s / 2, 30e-9) << "files have the sum of each kernel to the ns";
}

TEST_F(RealXhpl, InstrumentedTellsTheCostOfItsClock) {
  ASSERT_EQ(instrumented(configuration(100, 32, 1, 1)).status, 0);
  const auto clock = totals_of(0).at("clock");
  EXPECT_GT(clock.calls, 0);
  EXPECT_GT(clock.total_s, 0);
}

TEST_F(RealXhpl, InstrumentedThinsToAFairSample) {
  ASSERT_EQ(instrumented(configuration(600, 32, 1, 1), {{"HPLCAST_KERNEL_TRACE_MAX", "100"}}).status, 0);
  double rows_searched = 0;  // idamax searches the rows that are left: 600 down to 1
  double last_start_s = 0;
  int count = 0;
  for (const auto& row : rows_of(0)) {
    if (row.kernel != "idamax") continue;
    rows_searched += row.shape.n;
    EXPECT_GE(row.start_s, last_start_s) << "rows are in the order of time";
    last_start_s = row.start_s;
    ++count;
  }
  EXPECT_EQ(count, 100);
  EXPECT_EQ(totals_of(0).at("idamax").calls, 600);
  // The mean of 100 of the numbers 1 to 600 has a standard deviation of 16: five of them.
  EXPECT_NEAR(rows_searched / count, 300.5, 80);
}

TEST_F(RealXhpl, InstrumentedRefusesABadLimit) {
  const auto result = instrumented(configuration(100, 32, 1, 1), {{"HPLCAST_KERNEL_TRACE_MAX", "many"}});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("HPLCAST_KERNEL_TRACE_MAX"));
  EXPECT_FALSE(fs::exists(folder_ / "trace-0.csv"));
}

TEST_F(RealXhpl, InstrumentedSaysWhenItCannotWrite) {
  const auto result =
      instrumented(configuration(100, 32, 1, 1), {{"HPLCAST_KERNEL_TRACE", (folder_ / "absent/trace").string()}});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace hplcast::hpl_patches
