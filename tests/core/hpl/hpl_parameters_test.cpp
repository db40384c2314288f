#include "hplcast/core/hpl_parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

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

struct Read {
  std::vector<HplParameters> all;
  std::vector<std::string> warnings;
};

Read read_with_warnings(const std::string& text) {
  std::istringstream in(text);
  Read result;
  result.all = read_hpl_dat(in, "HPL.dat", &result.warnings);
  return result;
}

TEST(HplDat, WhatHplRefusesIsRefusedWithLineAndField) {
  const auto message = [](const std::string& text) { return tests::error_in([&] { read(text); }); };
  EXPECT_THAT(message(with("1 # of NBs", "21 # of NBs")),
              HasSubstr("HPL.dat:7, field `NB`: a count of 21, read from \"21 # of NBs\"; HPL takes 1 to 20"));
  EXPECT_THAT(message(with("5000 Ns", "-1 Ns")),
              HasSubstr("HPL.dat:6, field `N`: `N` is -1, read from \"-1 Ns\"; expected at least 1"));
  // HPL itself does nothing with it. It was "`N` is 0", without file and line.
  EXPECT_THAT(message(with("5000 Ns", "0 Ns")), HasSubstr("HPL.dat:6, field `N`: `N` is 0, read from \"0 Ns\""));
  EXPECT_THAT(message(""), HasSubstr("the file is empty"));
  EXPECT_THAT(message(with("0 DEPTHs", "-1 DEPTHs")), HasSubstr("field `DEPTH`"));
  // 21 values of 20 characters each would lie behind HPL's buffer of 256.
  EXPECT_THAT(message(with("1 # of problem sizes (N)\n5000 Ns", "20 # of problem sizes (N)\n5000000000000000000000")),
              HasSubstr("the line has fewer values than its count says"));
}

TEST(HplDat, NumbersAreReadAsHplReadsThemWithAWarning) {
  const Read exponent = read_with_warnings(with("5000 Ns", "1e5 Ns"));
  EXPECT_EQ(exponent.all[0].N, 1);
  ASSERT_EQ(exponent.warnings.size(), 1u);
  EXPECT_EQ(exponent.warnings[0], "HPL.dat:6, field `N`: HPL reads 1 as value 1 of 1, not 1e5, from \"1e5 Ns\"");
  EXPECT_EQ(read_with_warnings(with("3 BCASTs", "abc BCASTs")).all[0].BCAST, 0);
  EXPECT_EQ(read_with_warnings(with("5000 Ns", "4294967298 Ns")).all[0].N, 2);
  EXPECT_EQ(read_with_warnings(with("3 BCASTs", "6 BCASTs")).all[0].BCAST, 1);
  EXPECT_THAT(read_with_warnings(with("2 SWAP", "3 SWAP")).warnings.at(0), HasSubstr("HPL replaces 3 by 1"));
}

TEST(HplDat, BlanksInFrontShiftTheValuesBehindTheFirst) {
  const Read one = read_with_warnings(with("5000 Ns", "   5000 Ns"));
  EXPECT_EQ(one.all[0].N, 5000);
  EXPECT_TRUE(one.warnings.empty());
  // HPL goes on 5 characters behind the beginning of the line: at the 000 of 5000.
  const std::string two = with("1 # of problem sizes (N)\n5000 Ns", "2 # of Ns\n  5000 6000 Ns");
  EXPECT_THAT(tests::error_in([&] { read_with_warnings(two); }),
              ::testing::AllOf(HasSubstr("`N` is 0"), HasSubstr("HPL reads 0 as value 2 of 2, not 6000")));
}

TEST(HplDat, MissingLastLinesAreTheOneBefore) {
  std::string text = dat();
  text.resize(text.find("8 memory alignment"));
  const Read cut = read_with_warnings(text);
  EXPECT_EQ(cut.all[0].ALIGN, cut.all[0].EQUIL);
  EXPECT_THAT(cut.warnings.at(0), HasSubstr("the file has ended"));
}

TEST(HplDat, ALongLineGoesOnInTheNextOne) {
  const std::string text = with("written by hplcast", "written by hplcast" + std::string(236, ' '));
  // 254 characters: HPL takes the last of them for its third line, and reads 6 (the device) as the number of Ns.
  EXPECT_THAT(tests::error_in([&] { read(text); }), HasSubstr("before: HPL.dat:"));
  const std::string last = dat().substr(0, dat().size() - 1) + std::string(300, ' ') + "\n";
  EXPECT_THAT(read_with_warnings(last).warnings.at(0), HasSubstr("longer than 253 characters"));
}

TEST(HplDat, MoreConfigurationsThanAnybodyRunsAreRefused) {
  std::string text = dat();
  for (const char* line :
       {"1 # of NBs\n120 NBs", "1 # of recursive stopping criteria\n8 NBMINs (>= 1)",
        "1 # of panels in recursion\n2 NDIVs", "1 # of broadcasts\n3 BCASTs", "1 # of lookahead depths\n0 DEPTHs"}) {
    const std::string twenty = "20 # of values\n" + std::string("2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2");
    text.replace(text.find(line), std::string(line).size(), twenty);
  }
  EXPECT_THAT(tests::error_in([&] { read(text); }), HasSubstr("give 3200000 configurations"));
}

TEST(HplOutput, ReadsWLines) {
  std::istringstream in(
      "T/V                N    NB     P     Q               Time                 Gflops\n"
      "WC03R2L8        5000   120     2     3               1.23              6.7800e+01\n"
      "hplcast: time_s=1.2345678 gflops=67.5123456 ended_unix_s=1795364610.36 kernels_s=38.5\n"
      "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   5.1e-03 ...... PASSED\n"
      "WR11C2R4        1000   128     1     2               0.50              1.3e+00\n");
  HplParameters defaults = example();
  const auto runs = read_hpl_output(in, "log", defaults);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].parameters, example()) << to_string(runs[0].parameters);
  EXPECT_EQ(runs[0].time_s, 1.2345678);
  EXPECT_EQ(runs[0].gflops, 67.5123456);
  EXPECT_EQ(runs[0].ended_unix_s, 1795364610.36);
  EXPECT_EQ(runs[0].kernels_s, 38.5);
  EXPECT_TRUE(runs[0].residual_checked && runs[0].residual_passed);
  EXPECT_EQ(runs[1].parameters.PFACT, 2);
  EXPECT_EQ(runs[1].parameters.RFACT, 1);
  EXPECT_EQ(runs[1].time_s, 0.5);
  EXPECT_FALSE(runs[1].kernels_s);
  EXPECT_FALSE(runs[1].residual_checked);
}

/// The header of HPL 2.3, with lists of more than eight values.
std::string header() {
  return "================================================================================\n"
         "HPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018\n"
         "An explanation of the input/output parameters follows:\n"
         "N      : The order of the coefficient matrix A.\n"
         "P      : The number of process rows.\n\n"
         "The following parameter values will be used:\n\n"
         "N      :     100      200      300      400      500      600      700      800 \n"
         "             900 \n"
         "NB     :     128 \n"
         "PMAP   : Row-major process mapping\n"
         "P      :       1 \n"
         "Q      :       2 \n"
         "PFACT  :    Left    Crout    Right \n"
         "NBMIN  :       4 \n"
         "NDIV   :       2 \n"
         "RFACT  :   Crout \n"
         "BCAST  :  1ringM    Blong \n"
         "DEPTH  :      12 \n"
         "SWAP   : Mix (threshold = 80)\n"
         "L1     : no-transposed form\n"
         "U      : transposed form\n"
         "EQUIL  : no\n"
         "ALIGN  : 16 double precision words\n\n";
}

std::vector<HplRun> output(const std::string& text, const HplParameters& defaults = {}) {
  std::istringstream in(text);
  return read_hpl_output(in, "HPL.out", defaults);
}

const char* const w_line = "WR121C2R4         900   128     1     2               0.50              1.3e+00\n";

TEST(HplOutput, TheHeaderSaysWhatTheWLineDoesNot) {
  const auto runs = output(header() + w_line);
  ASSERT_EQ(runs.size(), 1u);
  const HplParameters& p = runs[0].parameters;
  EXPECT_EQ(p.DEPTH, 12);
  EXPECT_EQ(p.BCAST, 1);
  EXPECT_EQ(p.PFACT, 2);
  EXPECT_EQ(p.SWAP, 2);
  EXPECT_EQ(p.swap_threshold, 80);
  EXPECT_EQ(p.L1, 1);
  EXPECT_EQ(p.U, 0);
  EXPECT_EQ(p.EQUIL, 0);
  EXPECT_EQ(p.ALIGN, 16);
  EXPECT_TRUE(runs[0].assumed.empty());
}

TEST(HplOutput, WithoutAHeaderWhatIsAssumedIsNamed) {
  HplParameters defaults;
  defaults.SWAP = 2;
  const auto runs = output(w_line, defaults);
  EXPECT_THAT(runs.at(0).assumed, ::testing::ElementsAre("SWAP", "swap_threshold", "L1", "U", "EQUIL", "ALIGN"));
  EXPECT_EQ(runs[0].parameters.SWAP, 2);
  const std::string cut = header().substr(0, header().find("EQUIL"));
  EXPECT_THAT(output(cut + w_line).at(0).assumed, ::testing::ElementsAre("EQUIL", "ALIGN"));
}

/// HPL-NVIDIA 23 and later. It was "expected a result line such as WR11C2R4".
TEST(HplOutput, TheCodeOfHplNvidiaTellsTheOrderOnly) {
  const std::string line = "WC0            92160  1024     1     1        30.73       1.698e+04 ( 1.698e+04)\n";
  HplParameters defaults;
  defaults.DEPTH = 3;
  const HplRun cut =
      output(line + "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   0.00032 ...... PASSED\n", defaults).at(0);
  EXPECT_EQ(cut.parameters.N, 92160);
  EXPECT_EQ(cut.parameters.PMAP, 1);
  EXPECT_EQ(cut.parameters.DEPTH, 3);
  EXPECT_EQ(cut.gflops, 16980);
  EXPECT_TRUE(cut.residual_passed);
  EXPECT_THAT(cut.assumed, ::testing::ElementsAre("PFACT", "NBMIN", "NDIV", "RFACT", "BCAST", "DEPTH", "SWAP", "L1",
                                                  "U", "EQUIL", "ALIGN"));
  const HplRun run = output(header() + "WR0  900  128  1  2  0.50  1.3e+00 ( 6.5e-01)\n").at(0);
  EXPECT_EQ(run.parameters.DEPTH, 12);
  EXPECT_THAT(run.assumed, ::testing::ElementsAre("PFACT", "BCAST")) << "the header lists several";
}

TEST(HplOutput, AHeaderEndsWithItsTests) {
  const auto runs = output(header() + w_line + "\nEnd of Tests.\n" + w_line);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].parameters.SWAP, 2);
  EXPECT_FALSE(runs[1].assumed.empty());
}

TEST(HplOutput, ARunThatItsHeaderDoesNotListIsRefused) {
  const std::string other = "WR121C2R4        1000   128     1     2               0.50              1.3e+00\n";
  EXPECT_THAT(tests::error_in([&] { output(header() + other); }),
              HasSubstr("field `N`: this run has 1000, HPL's header above says 100 200"));
}

TEST(HplOutput, RefusesADamagedWLine) {
  std::istringstream in("WR11C2R4        1000   128\n");
  EXPECT_THAT(tests::error_in([&] { read_hpl_output(in, "log", {}); }), HasSubstr("log:1: found \"WR11C2R4"));
  for (const char* numbers : {"1000 0 1 1", "1000 64 0 1", "1000 64 1 -1"}) {
    std::istringstream line("WR11C2R4 " + std::string(numbers) + " 1.0 1.0\n");
    EXPECT_THAT(tests::error_in([&] { read_hpl_output(line, "log", {}); }), HasSubstr("log:1: found \"WR11C2R4"));
  }
  // It was the number in front, 6 Gflop/s, without a word.
  for (const char* rate : {"6,8e+01", "6.8e+01----", "6.8e+01WR11C2R4"})
    EXPECT_THAT(tests::error_in([&] { output("WR11C2R4 1000 64 1 1 1.0 " + std::string(rate) + "\n"); }),
                HasSubstr("expected a result line"))
        << rate;
}

TEST(HplCsv, RoundTripsAndReadsPublishedColumns) {
  std::ostringstream out;
  write_hpl_csv(out, example());
  const std::string text = out.str();
  const std::size_t header = text.find('\n');
  std::istringstream in(text.substr(0, header) + ",time_s,gflops" + text.substr(header, text.size() - header - 1) +
                        ",1.5,2.5\n");
  const auto runs = read_hpl_csv(in, "r.csv", {});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].parameters, example());
  EXPECT_EQ(runs[0].gflops, 2.5);
  EXPECT_TRUE(runs[0].assumed.empty());
}

TEST(HplCsv, NamesOfValuesAreReadInAnyCase) {
  EXPECT_EQ(hpl_value("PMAP", "Column"), 1) << "as HPL's output has it; it was refused";
  EXPECT_EQ(hpl_value("BCAST", " LONGM"), 5);
  EXPECT_EQ(hpl_value("BCAST", "1RINGM"), 1);
  EXPECT_FALSE(hpl_value("PMAP", "Col"));
}

TEST(HplCsv, ColumnsThatAreMissingAreNamed) {
  std::istringstream in("N,NB,P,Q,BCAST,time_s\n1000,128,1,1,0,2\n");
  const auto runs = read_hpl_csv(in, "r.csv", {});
  EXPECT_THAT(runs.at(0).assumed, ::testing::Contains("SWAP"));
  EXPECT_THAT(runs.at(0).assumed, ::testing::Not(::testing::Contains("BCAST")));
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

/// As HPL 2.3 prints it in a debugger: N=5000 on 2x1 has 2560 and 2440 rows, N=2048 on 2x1 two times 1024, a power of
/// two.
TEST(HplParameters, SayTheLeadingDimensionOfARank) {
  HplParameters p;
  p.N = 5000;
  p.P = 2;
  p.Q = 3;
  EXPECT_EQ(leading_dimension(p, 2), 2560) << "row-major: of the first row";
  EXPECT_EQ(leading_dimension(p, 3), 2440);
  p.PMAP = 1;
  EXPECT_EQ(leading_dimension(p, 2), 2560);
  EXPECT_EQ(leading_dimension(p, 3), 2440);
  EXPECT_EQ(most_aliased_dimension(p), 2560);
  EXPECT_EQ(columns_apart_bytes(2560), 4096);
  EXPECT_EQ(columns_apart_bytes(3072), 8192);
  EXPECT_EQ(columns_apart_bytes(2568), 64);
  p.ALIGN = 24;
  EXPECT_EQ(leading_dimension(p, 0), 2568);
  p.N = 2048;
  p.ALIGN = 8;
  EXPECT_EQ(leading_dimension(p, 0), 1032);
  p.ALIGN = 2048;
  EXPECT_EQ(leading_dimension(p, 0), 6144) << "2048 and 4096 are powers of two";
}

TEST(HplParameters, AreShownWhereTheyDiffer) {
  HplParameters a, b;
  b.PFACT = a.PFACT + 1;
  b.N = a.N + 1;
  EXPECT_TRUE(varying_fields({}, {}).empty());
  EXPECT_TRUE(varying_fields({a, a}, {}).empty());
  const auto fields = varying_fields({a, a, b}, {"N"});
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_STREQ(fields[0]->name, "PFACT");
}

TEST(HplParameters, TheMixIsSpreadRollUntilProcessesHaveFewColumns) {
  HplParameters mix = example();
  mix.N = 1024;  // 16 panels
  mix.NB = 64;
  mix.Q = 2;
  mix.swap_threshold = 63;
  HplParameters spread_roll = mix;
  spread_roll.SWAP = 1;
  EXPECT_EQ(same_until(10, mix).SWAP, 1);  // three blocks for each: one may not be whole, one is for certainty
  EXPECT_EQ(same_until(10, mix), same_until(10, spread_roll));
  EXPECT_EQ(same_until(11, mix).SWAP, 2);
  EXPECT_EQ(same_until(16, mix).SWAP, 2);
  mix.DEPTH = 1;
  EXPECT_EQ(same_until(8, mix).SWAP, 1);
  EXPECT_EQ(same_until(9, mix).SWAP, 2);
  mix.swap_threshold = 64;
  EXPECT_EQ(same_until(0, mix).SWAP, 2);
}

}  // namespace
}  // namespace hplcast::core
