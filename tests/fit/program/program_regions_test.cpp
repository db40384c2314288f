#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "hplcast/core/csv.hpp"
#include "hplcast/fit/program_fit.hpp"

namespace hplcast::fit {
namespace {

double region_s(const core::RegionModel& region, const core::KernelShape& shape) {
  return region.model.cluster_law().at(shape).mean_s(shape);
}

/// One rank of a program of regions: rows of calls.csv as "NAME,m,n,k,duration_s,calls", which are of one region.
void read_rank(ProgramObservation& seen, const std::string& file, const std::string& region, const std::string& rows,
               double calls, double time_s) {
  const std::string time = core::shortest(time_s);
  std::istringstream calls_csv("routine,m,n,k,duration_s,calls\n" + rows);
  std::istringstream times_csv("what,name,calls,time_s,flop\nregion," + region + "," + core::shortest(calls) + "," +
                               time + ",0\ntotal,,0," + time + ",0\n");
  read_observed_rank({calls_csv, "calls.csv"}, {times_csv, file + ":rank-0.times.csv"}, seen);
}

TEST(ProgramRegions, WithSizesHaveAModelAndOthersTheirMean) {
  ProgramObservation seen;
  seen.executed_s = 3;
  for (double n = 100; n <= 1000; n += 100) seen.calls["region:fill"].push_back({{n, n, 1}, 1e-9 * n * n, 1});
  seen.regions["fill"] = {10, 3.85e-3, 0};
  seen.calls["region:setup"] = {{{1, 1, 1}, 0.5, 1}, {{1, 1, 1}, 1.5, 1}};
  seen.regions["setup"] = {2, 2, 0};
  const core::ProgramModel program = fit_program(seen).program;
  EXPECT_EQ(program.regions.at("fill").mode, core::RegionMode::model);
  EXPECT_NEAR(region_s(program.regions.at("fill"), {2000, 2000, 1}), 4e-3, 1e-6);
  EXPECT_EQ(program.regions.at("setup").mode, core::RegionMode::skip);
  EXPECT_EQ(program.regions.at("setup").time_s, 2);
}

// As many steps of three sizes, without a routine whose flop tell them apart: were they repetitions, all would take as
// long as those of the middle one. Of each size one of three repetitions was disturbed, which does not count.
TEST(ProgramRegions, RunsOfOtherSizesAreNoRepetitions) {
  ProgramObservation seen;
  for (const double n : {100.0, 200.0, 400.0})
    for (const double slower : {1.0, 3.0, 1.0}) {
      const double duration_s = 1e-6 * n * slower;
      read_rank(seen, "run.zip", "step",
                "region:step," + core::shortest(n) + ",1,1," + core::shortest(duration_s) + ",20\n", 20,
                20 * duration_s);
    }
  const core::ProgramModel program = fit_program(seen).program;
  for (const double n : {100.0, 400.0, 1000.0})
    EXPECT_NEAR(region_s(program.regions.at("step"), {n, 1, 1}) / (1e-6 * n), 1, 1e-3) << n;
}

// Of ranks that have no part of something: a step without work is read, and is no law for others.
TEST(ProgramRegions, MayHaveASizeOfZero) {
  ProgramObservation seen;
  read_rank(seen, "run.zip", "rows",
            "region:rows,0,50,1,1e-7,5\nregion:rows,10,50,1,1e-5,5\nregion:rows,40,50,1,4e-5,5\n", 15, 2.505e-4);
  read_rank(seen, "run.zip", "none", "region:none,0,1,1,2e-7,4\n", 4, 8e-7);
  const core::ProgramModel program = fit_program(seen).program;
  EXPECT_NEAR(region_s(program.regions.at("rows"), {20, 50, 1}), 2e-5, 1e-8);
  EXPECT_EQ(program.regions.at("none").mode, core::RegionMode::skip) << "sizes that are always 0 say nothing";
  EXPECT_EQ(program.regions.at("none").time_s, 8e-7);
}

// A step of time, a fraction: 1 alone stands for no size.
TEST(ProgramRegions, MayHaveSizesBelowOne) {
  ProgramObservation seen;
  std::string rows;
  for (const double step : {0.1, 0.2, 0.4, 0.8})
    rows += "region:step," + core::shortest(step) + ",1,1," + core::shortest(1e-3 * step) + ",10\n";
  read_rank(seen, "run.zip", "step", rows, 40, 1.5e-2);
  const core::RegionModel region = fit_program(seen).program.regions.at("step");
  ASSERT_EQ(region.mode, core::RegionMode::model);
  EXPECT_NEAR(region_s(region, {0.3, 1, 1}), 3e-4, 1e-6);
}

TEST(ProgramRegions, WithCallsInsideAreToldUnlessTheyAreExecuted) {
  ProgramObservation seen;
  read_rank(seen, "run.zip", "step", "region:step,1,1,1,1e-3,10\n", 10, 1e-2);
  std::istringstream calls("routine,m,n,k,duration_s,calls\nregion:step,1,1,1,1e-3,10\n");
  std::istringstream times(
      "what,name,calls,time_s,flop\nregion,step,10,1e-2,0\ninside,step,20,2.5,0\ntotal,,0,1e-2,0\n");
  core::ProgramModel program = fit_program(seen).program;
  EXPECT_TRUE(lost_inside(seen, program).empty());
  read_observed_rank({calls, "calls.csv"}, {times, "times.csv"}, seen);
  const std::vector<std::string> told = lost_inside(seen, program);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].find("region step: 2.5 s of routines of BLAS and 20 calls of MPI inside of it are neither"), 0U)
      << told[0];
  program.regions.at("step").mode = core::RegionMode::factor;
  EXPECT_TRUE(lost_inside(seen, program).empty());
}

}  // namespace
}  // namespace hplcast::fit
