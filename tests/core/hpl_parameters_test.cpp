#include "hplcast/core/hpl_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

HplParameters example() {
  HplParameters p;
  p.N = 5000;
  p.NB = 120;
  p.P = 2;
  p.Q = 3;
  p.PMAP = 1;
  p.PFACT = 0;
  p.RFACT = 2;
  p.NBMIN = 8;
  p.BCAST = 3;
  p.DEPTH = 0;
  p.SWAP = 2;
  p.L1 = 1;
  return p;
}

std::vector<HplParameters> read(const std::string& text) {
  std::istringstream in(text);
  return read_hpl_dat(in, "HPL.dat");
}

std::string dat() {
  std::ostringstream out;
  write_hpl_dat(out, example(), true);
  return out.str();
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = dat();
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(HplDat, RoundTrips) {
  const auto back = read(dat());
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0], example()) << to_string(back[0]);
  const std::string text = dat();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 31);
}

TEST(HplDat, CrossesListsInTheOrderOfHpl) {
  std::string text = with("1 # of problem sizes (N)\n5000 Ns", "2 # of problem sizes (N)\n100 200 Ns");
  text.replace(text.find("1 # of broadcasts\n3"), 19, "2 # of broadcasts\n0 5");
  const auto all = read(text);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].N, 100);
  EXPECT_EQ(all[0].BCAST, 0);
  EXPECT_EQ(all[1].N, 100);
  EXPECT_EQ(all[1].BCAST, 5);
  EXPECT_EQ(all[2].N, 200);
}

TEST(HplDat, NamesLineAndField) {
  const auto message = [](const std::string& text) { return tests::error_in([&] { read(text); }); };
  EXPECT_THAT(message(with("5000 Ns", "abc Ns")), HasSubstr("HPL.dat:6, field `N`: value 1 of 1 is \"abc\""));
  EXPECT_THAT(message(with("5000 Ns", " 5000 Ns")), HasSubstr("values start in the first column"));
  EXPECT_THAT(message(with("1 # of NBs", "21 # of NBs")),
              HasSubstr("HPL.dat:7, field `NB`: a count of 21; HPL takes 1 to 20"));
  EXPECT_THAT(message(with("3 BCASTs", "6 BCASTs")), HasSubstr("field `BCAST`: `BCAST` is 6; expected 0 to 5"));
  EXPECT_THAT(message(with("2 SWAP", "3 SWAP")), HasSubstr("`SWAP` is 3; expected 0 to 2"));
  EXPECT_THAT(message(dat().substr(0, 300)), HasSubstr("the file ends here; HPL.dat has 31 lines"));
  EXPECT_THAT(message(with("5000 Ns", std::string(300, '5'))), HasSubstr("HPL reads 254 at most"));
}

TEST(HplOutput, ReadsWLines) {
  std::istringstream in(
      "T/V                N    NB     P     Q               Time                 Gflops\n"
      "WC03R2L8        5000   120     2     3               1.23              6.7800e+01\n"
      "hplcast: time_s=1.2345678 gflops=67.5123456\n"
      "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   5.1e-03 ...... PASSED\n"
      "WR11C2R4        1000   128     1     2               0.50              1.3e+00\n");
  HplParameters defaults = example();
  const auto runs = read_hpl_output(in, "log", defaults);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].parameters, example()) << to_string(runs[0].parameters);
  EXPECT_EQ(runs[0].time_s, 1.2345678);
  EXPECT_EQ(runs[0].gflops, 67.5123456);
  EXPECT_TRUE(runs[0].residual_checked && runs[0].residual_passed);
  EXPECT_EQ(runs[1].parameters.PFACT, 2);
  EXPECT_EQ(runs[1].parameters.RFACT, 1);
  EXPECT_EQ(runs[1].time_s, 0.5);
  EXPECT_FALSE(runs[1].residual_checked);
}

TEST(HplOutput, RefusesADamagedWLine) {
  std::istringstream in("WR11C2R4        1000   128\n");
  EXPECT_THAT(tests::error_in([&] { read_hpl_output(in, "log", {}); }), HasSubstr("log:1: found \"WR11C2R4"));
}

TEST(HplCsv, RoundTripsAndReadsPublishedColumns) {
  std::ostringstream out;
  write_hpl_csv_header(out);
  write_hpl_csv_row(out, {example(), 1.5, 2.5, false, false});
  std::istringstream in(out.str());
  const auto runs = read_hpl_csv(in, "r.csv", {});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].parameters, example());
  EXPECT_EQ(runs[0].gflops, 2.5);
}

TEST(HplCsv, ComputesGflopsWhereTheyAreMissing) {
  std::istringstream in("N,NB,P,Q,time_s\n1000,128,1,1,2\n");
  EXPECT_DOUBLE_EQ(read_hpl_csv(in, "r.csv", {})[0].gflops, (2.0 / 3 * 1e9 + 1.5e6) / 2 / 1e9);
}

TEST(HplParameters, ValidatesLikeHpl) {
  HplParameters p;
  p.NDIV = 1;
  EXPECT_THAT(tests::error_in([&] { p.validate(); }), HasSubstr("`NDIV` is 1; expected at least 2"));
}

}  // namespace
}  // namespace hplcast::core
