#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "hplcast/core/imported.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

std::vector<HplLog> logs_in(const std::string& text) {
  std::istringstream in(text);
  return read_hpl_logs(in, "HPL.out");
}

std::string log_error_of(const std::string& text) {
  return tests::error_in([&] { logs_in(text); });
}

std::string header(const std::string& N = "1000") {
  return "HPLinpack 2.3  --  High-Performance Linpack benchmark\nN      : The order of the coefficient matrix A.\n"
         "N      :    " +
         N +
         "\nNB     :     100\nP      :       1\nQ      :       2\nDEPTH  :       1\nSWAP   : Mix (threshold = 64)\n";
}

const std::string result_lines =
    "WR11C2R4        1000   100     1     2               2.00            3.34e-01\n"
    "HPL_pdgesv() start time Thu Oct 22 11:08:23 2020\n"
    "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.92439165e-03 ...... PASSED\n";

// 2/3 (1000^3 - 500^3) flop at 0.5833333 Gflop/s: 1 s.
constexpr double half = 2.0 / 3.0 * (1e9 - 0.125e9);

TEST(HplLog, ReadsProgressOfNetlibIntelAndRocHpl) {
  for (const char* line : {"Column=000000500 Fraction=50.0% Gflops=5.833e-01",
                           "node-0 : Column=000500 Fraction=0.500 Kernel=    0.63 Mflops=583.30",
                           "Column=000000500 (50.0%) Step Time(s)=0.0100000 Small DGEMM Gflops=--------- pdfact "
                           "Gflops=--------- DGEMM1 Gflops=1.0e+00 DGEMM2 Gflops=9.0e+00 Overall Gflops=5.833e-01"}) {
    const auto runs = logs_in(header() + "some words\n" + line + "\n");
    ASSERT_EQ(runs.size(), 1U) << line;
    ASSERT_EQ(runs[0].progress.size(), 1U) << line;
    EXPECT_EQ(runs[0].progress[0].column, 500) << line;
    EXPECT_DOUBLE_EQ(runs[0].progress[0].elapsed_s, half / 0.5833e9) << line;
    EXPECT_EQ(runs[0].parameters.Q, 2);
    EXPECT_FALSE(runs[0].result);
  }
}

/// HPL-NVIDIA tells what is left, and its time with two digits: two lines of a run on four A100.
TEST(HplLog, ReadsProgressOfHplNvidia) {
  const std::string rates = "\tTime_left= 9.99\tiGF= 4049.51\tGF= ";
  const auto runs = logs_in(header("130352") + " Prog= 1.54%\tN_left= 129680\tTime= 0.68" + rates +
                            "33344.95\tiGF_per= 8336.24 \tGF_per= 8336.24 \n Prog= 100.00%\tN_left= 432\tTime= 31.26" +
                            rates + "47231.91\tiGF_per= 1012.38 \tGF_per= 11807.98 \n");
  ASSERT_EQ(runs.size(), 1U);
  ASSERT_EQ(runs[0].progress.size(), 2U);
  EXPECT_EQ(runs[0].progress[0].column, 672);
  EXPECT_NEAR(runs[0].progress[0].elapsed_s, 0.68, 0.005);
  EXPECT_EQ(runs[0].progress[1].column, 129920);
  EXPECT_NEAR(runs[0].progress[1].elapsed_s, 31.26, 0.005);
  // Neither the line before the first columns nor the last one twice is told again.
  const std::string row = "\tN_left= ";
  const auto again = logs_in(header("1000") + " Prog= 0%" + row + "1000\tGF= 1.5\n Prog= 50%" + row +
                             "500\tGF= 1.5\n Prog= 50%" + row + "500\tGF= 1.4\n");
  ASSERT_EQ(again.at(0).progress.size(), 1U);
  EXPECT_EQ(again[0].progress[0].column, 500);
  EXPECT_THAT(log_error_of(header() + " Prog= 1.54%\tN_left= 2000\tGF= 1.5\n"), HasSubstr("is the header that of"));
}

TEST(HplLog, KnowsHowFarTimesAreRounded) {
  // The last digit of 5.833e-01 is 1e-4: a uniform error has a standard deviation of that over sqrt(12).
  const auto runs = logs_in(header() + "Column=000000500 Fraction=50.0% Gflops=5.833e-01\n");
  EXPECT_NEAR(runs[0].progress[0].elapsed_error_s, half / 0.5833e9 * 1e-4 / 0.5833 / std::sqrt(12.0), 1e-12);
}

TEST(HplLog, KeepsTheRunsOfAnOutputApart) {
  const std::string progress = "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  const auto runs =
      logs_in(header() + progress + result_lines + progress + "Column=000000200 Fraction=20.0% Gflops=5.0e-01\n" +
              result_lines + header() + progress + header() + result_lines);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[1].progress.size(), 2U);
  EXPECT_TRUE(runs[1].result && runs[1].result->residual_passed);
  EXPECT_FALSE(runs[2].result) << "another header follows";
  EXPECT_TRUE(runs[3].result && runs[3].progress.empty());
  EXPECT_EQ(runs[0].result->parameters.SWAP, 2);
  EXPECT_EQ(runs[0].started_unix_s, 1603364903) << "2020-10-22 11:08:23";
}

TEST(HplLog, DoesNotBelieveAWordBesideALargeResidual) {
  const std::string threshold = "- Computational tests pass if scaled residuals are less than                16.0\n";
  std::string failed = result_lines;
  failed.replace(failed.find("e-03"), 4, "e+02");
  EXPECT_FALSE(logs_in(header() + threshold + failed).at(0).result->residual_passed);
  EXPECT_TRUE(logs_in(header() + threshold + result_lines).at(0).result->residual_passed);
  EXPECT_FALSE(logs_in(header() + failed).at(0).result->residual_passed) << "16, as HPL.dat comes";
  EXPECT_TRUE(logs_in(header() + result_lines).at(0).result->residual_passed);
}

TEST(HplLog, LeavesOutALastLineThatIsNotWhole) {
  const std::string begun = header() + "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  // A rate without its exponent is ten times as large.
  for (const char* cut : {"Column=000000200 Fraction=20.0% Gflops=4.9", "Column=0000002",
                          "WR11C2R4        1000   100     1     2               2.00            3.34"}) {
    const auto runs = logs_in(begun + cut);
    ASSERT_EQ(runs.size(), 1U) << cut;
    EXPECT_EQ(runs[0].progress.size(), 1U) << cut;
    EXPECT_FALSE(runs[0].result) << cut;
  }
  const auto runs = logs_in(begun + result_lines.substr(0, result_lines.size() - 8));
  ASSERT_TRUE(runs.at(0).result);
  EXPECT_FALSE(runs[0].result->residual_checked) << "the word behind the residual is missing";
  EXPECT_TRUE(logs_in(header() + result_lines.substr(0, result_lines.find('\n'))).at(0).result)
      << "a result line by itself, copied without its end";
  for (const char* cut : {"3.58e-03", "3.58e-03 ...... PAS"}) {
    const auto one = logs_in(header() + result_lines.substr(0, result_lines.find("||Ax-b||")) +
                             "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   " + cut);
    EXPECT_FALSE(one.at(0).result->residual_checked) << cut;
  }
  for (const char* cut : {"3.", "3.34", "3.34e", "3.34e+", "3.34e+0"})
    EXPECT_THAT(log_error_of(header() + "WR11C2R4        1000   100     1     2               2.00            " + cut),
                HasSubstr("no run of HPL"))
        << cut;
}

TEST(HplLog, ReadsListsOfMoreThanEightValues) {
  const std::string line = "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  const std::string lists =
      header("100 200 300 400 500 600 700 800 \n             900    1000") + "             2000\n";
  const auto runs = logs_in(lists + result_lines);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].result->parameters.N, 1000);
  EXPECT_THAT(log_error_of(lists + line), HasSubstr("several N"));
  EXPECT_THAT(log_error_of(lists + "WR11C2R4        2000   100     1     2               2.00            3.34e-01\n"),
              HasSubstr("HPL's header above says 100 200 300 400 500 600 700 800 900 1000"));
  // An explanation is no list that might go on.
  EXPECT_THAT(log_error_of("N      : The order of the matrix\n         A\n" + line), HasSubstr("header is missing"));
}

/// 16 runs.
std::string header_of_many() {
  return "HPLinpack 2.3\nN      :    1000\nNB     :     100       50\nP      :       1        2\n"
         "Q      :       4        2\nPFACT  :    Left    Crout\nDEPTH  :       0        1\n";
}

TEST(HplLog, KnowsWhichOfSeveralConfigurationsRuns) {
  const std::string line = "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  const std::string skipped = ">>> [0,0] Memory allocation failed for A, x and b. Skip. <<<\n";
  HplLogReader reader("HPL.out");
  const auto take = [&](const std::string& text) {
    std::istringstream lines(text);
    for (std::string one; std::getline(lines, one);) reader.take(one);
  };
  take(header_of_many());
  // The order of HPL_pddriver: grids, then NB, DEPTH and PFACT.
  for (int run = 0; run < 16; ++run) {
    if (run != 5 && run != 6) {
      take(line);
      const HplParameters p = reader.run().parameters;
      EXPECT_TRUE(reader.run().has_grid);
      EXPECT_EQ(p.P, run < 8 ? 1 : 2) << run;
      EXPECT_EQ(p.Q, run < 8 ? 4 : 2) << run;
      EXPECT_EQ(p.NB, run / 4 % 2 == 0 ? 100 : 50) << run;
      EXPECT_EQ(p.DEPTH, run / 2 % 2) << run;
      EXPECT_EQ(p.PFACT, run % 2) << run;
    }
    // One run shows no progress, and the memory does not hold another.
    const HplParameters p{1000, run / 4 % 2 == 0 ? 100 : 50, run < 8 ? 1 : 2, run < 8 ? 4 : 2};
    std::ostringstream result;
    result << "WR" << run / 2 % 2 << "1C2" << (run % 2 == 0 ? 'L' : 'C') << "4  1000  " << p.NB << "  " << p.P << "  "
           << p.Q << "  2.00  3.34e-01\n";
    take(run == 6 ? skipped : result.str());
  }
  take(header_of_many() + line);
  EXPECT_EQ(reader.run().parameters.Q, 4) << "another output begins with its first run";
}

TEST(HplLog, KnowsWhetherAHeaderTellsTheGrid) {
  const std::string line = "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  EXPECT_TRUE(logs_in(header() + line)[0].has_grid);
  HplLogReader reader("tail.out", 1000);
  for (const std::string& text : {std::string("Q      :       2"), line}) reader.take(text);
  EXPECT_EQ(reader.run().progress.size(), 1U);
  EXPECT_FALSE(reader.run().has_grid) << "P is missing";
}

TEST(HplLog, SaysWhatIsWrong) {
  const std::string line = "Column=000000100 Fraction=10.0% Gflops=5.0e-01\n";
  EXPECT_THAT(log_error_of("no words of HPL\n"), HasSubstr("no run of HPL"));
  EXPECT_THAT(log_error_of(line), AllOf(HasSubstr("HPL.out:1"), HasSubstr("header is missing"), HasSubstr("-N")));
  EXPECT_THAT(log_error_of(header("1000 2000") + line), HasSubstr("several N"));
  EXPECT_THAT(log_error_of(header("50") + line), HasSubstr("column 000000100 of a matrix of 50"));
  EXPECT_THAT(log_error_of(header() + line + line), AllOf(HasSubstr("HPL.out:10"), HasSubstr("goes back")));
  EXPECT_THAT(log_error_of(header() + "Column=000000100 Fraction=10.0% Gflops=nan\n"),
              HasSubstr("expected Column=NUMBER"));
  EXPECT_THAT(log_error_of(header() + "Column=000000100 Fraction=10.0% Gflops=1e-320\n"), HasSubstr("expected Column="))
      << "an infinite time";
  EXPECT_THAT(log_error_of(header() + "Column=100 Fraction=10.0%\n"), HasSubstr("expected Column=NUMBER"));
  EXPECT_THAT(log_error_of(header() + "WR11C2R4  1000\n"),
              AllOf(HasSubstr("HPL.out:9: "), HasSubstr("expected a result line")));
}

TEST(HplLog, TimesOfIntelsRunsEndBeforeTheirResult) {
  HPLCAST_REFERENCE_FILE(path, "alaska/hpl/alaska_mkl_1x1_2020-10-22.out");
  std::ifstream in(path);
  const auto runs = read_hpl_logs(in, path.filename().string());
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].progress.size(), 112U);
  EXPECT_EQ(runs[0].result->time_s, 1012.71);
  EXPECT_NEAR(runs[0].progress.back().elapsed_s, 1011.67, 0.01) << "about 1 s before the end (README of the data)";
}

}  // namespace
}  // namespace hplcast::core
