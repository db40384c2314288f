#include "hplcast/fit/run_power.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace hplcast::fit {
namespace {

std::vector<RunEnergy> read_runs(const std::string& text) {
  std::istringstream in(text);
  return read_run_energies(in, "runs.csv");
}

std::string error_of_runs(const std::string& text) {
  try {
    read_runs(text);
  } catch (const core::ParseError& error) {
    return error.what();
  }
  return "none";
}

TEST(RunEnergies, AddUpTheDomainsOfAHost) {
  const auto runs = read_runs(
      "hosts,ranks_per_host,time_s,setup_s,package0_start_j,package0_end_j,package1_start_j,package1_end_j\n"
      "1,8,4.5,0.5,1000,1200,500,600\n");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_DOUBLE_EQ(runs[0].energy_j, 300);
  EXPECT_DOUBLE_EQ(runs[0].duration_s(), 5);
  EXPECT_LT(runs[0].waiting_s, 0);
}

TEST(RunEnergies, UnwrapACounterThatEndsBelowItsStart) {
  const std::string table = "hosts,ranks_per_host,time_s,cpu_start_j,cpu_end_j";
  const auto runs = read_runs(table + ",wrap_j\n1,8,10,65000,468,65532\n");
  EXPECT_DOUBLE_EQ(runs[0].energy_j, 1000);
  EXPECT_EQ(runs[0].wraps, 1);
  EXPECT_NE(error_of_runs(table + "\n1,8,10,65000,468\n").find("below its start"), std::string::npos);
  EXPECT_NE(error_of_runs(table + ",wrap_j\n1,8,10,66000,468,65532\n").find("up to wrap_j"), std::string::npos);
}

TEST(RunEnergies, UnwrapAMeanBelowZeroByTheShareOfItsRuns) {
  const std::string table = "hosts,ranks_per_host,time_s,energy_j,runs";
  const auto runs = read_runs(table + ",wrap_j\n2,4,10,-5000,10,65532\n");
  EXPECT_DOUBLE_EQ(runs[0].energy_j, 1553.2);
  EXPECT_NE(error_of_runs(table + "\n2,4,10,-5000,10\n").find("wrapped"), std::string::npos);
}

TEST(RunEnergies, RefuseARowWithoutTheCounterOfADomain) {
  const std::string error =
      error_of_runs("hosts,ranks_per_host,time_s,a_start_j,a_end_j,b_start_j,b_end_j\n1,8,4,0,10,0,10\n1,8,4,0,10,,\n");
  EXPECT_NE(error.find("runs.csv:3"), std::string::npos) << error;
  EXPECT_NE(error.find("expected those of a, b"), std::string::npos) << error;
  // A machine without the second package in any row is fine.
  EXPECT_EQ(read_runs("hosts,ranks_per_host,time_s,a_start_j,a_end_j,b_start_j,b_end_j\n1,8,4,0,10,,\n").size(), 1U);
}

TEST(RunEnergies, RefuseNumbersThatCannotBe) {
  const std::string table = "hosts,ranks_per_host,time_s,energy_j,waiting_s\n";
  EXPECT_NE(error_of_runs(table + "0,8,4,10,1\n").find("at least 1"), std::string::npos);
  EXPECT_NE(error_of_runs(table + "1,8,0,10,0\n").find("0 s"), std::string::npos);
  EXPECT_NE(error_of_runs(table + "1,8,4,10,5\n").find("at most the 4 s"), std::string::npos);
  EXPECT_NE(error_of_runs(table + "1,8,4,0,1\n").find("above 0"), std::string::npos);
  EXPECT_NE(error_of_runs("hosts,ranks_per_host,time_s\n1,8,4\n").find("energy_j"), std::string::npos);
}

}  // namespace
}  // namespace hplcast::fit
