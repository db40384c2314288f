#include "hplcast/core/hpl_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<core::HplParameters> read(const std::string& text) {
  std::istringstream in(text);
  return read_configurations(in, "input");
}

TEST(Configurations, ComeFromACsvWithNumbersOrNames) {
  const auto all = read("NB,N,PFACT,comment\n128,5000,right,x\n64,6000,0,y\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].N, 5000);
  EXPECT_EQ(all[0].NB, 128);
  EXPECT_EQ(all[0].PFACT, 2);
  EXPECT_EQ(all[1].PFACT, 0);
  EXPECT_EQ(all[1].DEPTH, core::HplParameters{}.DEPTH);
}

TEST(Configurations, ComeFromAnHplDat) {
  core::HplParameters parameters;
  parameters.N = 777;
  std::ostringstream text;
  core::write_hpl_dat(text, parameters, false);
  const auto all = read(text.str());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0], parameters);
}

TEST(Configurations, ComeFromALineOfResults) {
  const auto all = read("WR11C2R4        5000   128     2     1              10.50              7.940e+00\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].P, 2);
}

TEST(Configurations, MistakesNameTheirPlace) {
  EXPECT_THAT(tests::error_in([] { read("N,BCAST\n100,1\n100,7ring\n"); }), HasSubstr("input:3, field `BCAST`"));
  EXPECT_THAT(tests::error_in([] { read("N,P\n100,0\n"); }), HasSubstr("`P` is 0"));
  EXPECT_THAT(tests::error_in([] { read("N,P\n"); }), HasSubstr("no configuration"));
  EXPECT_NE(tests::error_in([] { read(""); }), "");
}

TEST(RealRuns, ComeFromHplOutputOrCsv) {
  std::istringstream output(
      "noise\nWR11C2R4        5000   128     2     1              10.50              7.940e+00\n");
  const auto from_output = read_real_runs(output, "HPL.out");
  ASSERT_EQ(from_output.size(), 1U);
  EXPECT_EQ(from_output[0].parameters.P, 2);
  std::istringstream csv("# comment\nN,NB,P,Q,time_s\n5000,128,2,1,10.5\n");
  const auto from_csv = read_real_runs(csv, "runs.csv");
  ASSERT_EQ(from_csv.size(), 1U);
  EXPECT_EQ(from_csv[0].time_s, 10.5);
}

TEST(RealRuns, MayHaveColumnsWhoseNamesAreNoWords) {
  for (const std::string other : {"node name", "max temp [C]", "cpu.model", "2nd", "rate (Gflop/s)"}) {
    std::istringstream csv("N,NB,P,Q,time_s," + other + "\n5000,128,2,1,10.5,7\n");
    const auto runs = read_real_runs(csv, "runs.csv");
    ASSERT_EQ(runs.size(), 1U) << other;
    EXPECT_EQ(runs[0].parameters.N, 5000) << other;
    EXPECT_EQ(read("N,time_s," + other + "\n5000,10.5,7\n").size(), 1U) << other;
  }
  EXPECT_FALSE(is_configuration_csv("N and max temp [C]\nan HPL.dat begins as it likes\n"));
}

TEST(RealRuns, AFileWithoutRunsIsRefused) {
  std::istringstream text("HPL ERROR: cannot open file HPL.dat\n");
  EXPECT_THAT(tests::error_in([&] { read_real_runs(text, "HPL.out"); }), HasSubstr("no HPL run in it"));
}

TEST(RealRuns, PredictionsAreRefused) {
  std::istringstream csv("N,NB,P,Q,seed,model_sha256,time_s\n5000,128,2,1,1,ab,10.5\n");
  EXPECT_THAT(tests::error_in([&] { read_real_runs(csv, "study.csv"); }),
              AllOf(HasSubstr("study.csv:1, field `model_sha256`"), HasSubstr("expected real runs")));
}

TEST(RealRuns, PublishedRunsWithNamesForValuesAreRead) {
  const char* folder = std::getenv("HPLCAST_REFERENCE_DATA");
  std::ifstream in(std::string(folder != nullptr ? folder : HPLCAST_SOURCE_DIR "/../shared/data") +
                   "/hpl-reality/dahu-2019-03.csv");
  if (!in) GTEST_SKIP() << "skipped: no reference data";
  const auto runs = read_real_runs(in, "dahu-2019-03.csv");
  ASSERT_EQ(runs.size(), 112U);
  EXPECT_EQ(runs[0].parameters.N, 175000);
  EXPECT_EQ(runs[0].parameters.BCAST, 2);
  EXPECT_EQ(runs[0].parameters.RFACT, 2);
  EXPECT_EQ(runs[0].parameters.ALIGN, 8);
  // The file gives gflops with 4 digits and time_s with 2 decimals.
  for (const auto& run : runs) {
    const double expected = core::hpl_flop(static_cast<double>(run.parameters.N)) / run.time_s / 1e9;
    EXPECT_NEAR(run.gflops, expected, 1e-3 * expected);
  }
}

}  // namespace
}  // namespace hplcast::core
