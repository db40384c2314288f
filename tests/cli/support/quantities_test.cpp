#include "cli/support/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "cli/support/command.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::cli {
namespace {

using ::testing::HasSubstr;

/// The value of an option given as `text`, and what was said on stderr.
std::pair<double, std::string> parsed(const Check& kind, const std::string& text) {
  Command program("test", "program");
  double value = -1;
  program.add_option("--value", value, "", kind);
  const char* arguments[] = {"program", "--value", text.c_str()};
  std::ostringstream out, err;
  ::testing::internal::CaptureStderr();
  const int status = run_program(program, 3, arguments, out, err);
  const std::string told = ::testing::internal::GetCapturedStderr() + err.str();
  return {status == 0 ? value : -1, told};
}

TEST(Quantities, OptionsKeepAllDigits) {
  EXPECT_EQ(parsed(as_seconds, "0.1us").first, core::parse_seconds("0.1us"));
}

TEST(Quantities, AWrongOptionIsWrongUsage) {
  EXPECT_THAT(parsed(as_seconds, "soon").second, HasSubstr("hint: program --help"));
}

TEST(Quantities, APercentageNeedsItsSign) {
  EXPECT_EQ(parsed(as_percentage, "0.5%"), std::pair(0.005, std::string()));
  EXPECT_EQ(parsed(as_percentage, "100%").first, 1);
  EXPECT_THAT(parsed(as_percentage, "0.3").second, HasSubstr("0.3% or 30%?"));
  for (const char* wrong : {"101%", "-1%", "%", "nan%", "inf%", "1", "0", "", "some"})
    EXPECT_EQ(parsed(as_percentage, wrong).first, -1) << wrong;
}

TEST(Quantities, ARatioAboveOneNeedsTheSign) {
  EXPECT_EQ(parsed(as_ratio, "0.2").first, 0.2);
  EXPECT_EQ(parsed(as_ratio, "20%").first, 0.2);
  EXPECT_EQ(parsed(as_ratio, "150%").first, 1.5);
  EXPECT_THAT(parsed(as_ratio, "5").second, HasSubstr("500%"));
  for (const char* wrong : {"-0.1", "-1%", "nan", "nan%", "inf", "inf%", "", "some"})
    EXPECT_EQ(parsed(as_ratio, wrong).first, -1) << wrong;
}

TEST(Quantities, BytesAreWhole) {
  for (const auto& [text, bytes] : {std::pair("1.5KiB", 1536), {"1.1kB", 1100}, {"2.3MB", 2300000}, {"0", 0}})
    EXPECT_EQ(parsed(as_bytes, text).first, bytes) << text;
  for (const char* wrong : {"1.5", "0.0001kB", "1e99", "-1", "nan", ""})
    EXPECT_EQ(parsed(as_bytes, wrong).first, -1) << wrong;
}

TEST(Quantities, WhatNoMachineHasIsTold) {
  EXPECT_EQ(parsed(as_link_bandwidth("x"), "100Gb/s"), std::pair(12.5e9, std::string()));
  EXPECT_THAT(parsed(as_link_bandwidth("x"), "0").second, HasSubstr("above 0"));
  const auto [value, told] = parsed(as_link_bandwidth("--bandwidth"), "100");
  EXPECT_EQ(value, 100);
  EXPECT_EQ(told,
            "program: warning: --bandwidth: `100` is 100 B/s; usual is 10Mb/s to 10Tb/s; did you mean 100Gb/s?\n");
  EXPECT_EQ(parsed(as_link_bandwidth("--x"), "1e20").second,
            "program: warning: --x: `1e20` is 1e+20 B/s; usual is 10Mb/s to 10Tb/s\n");
  EXPECT_THAT(parsed(as_latency("x"), "1").second, HasSubstr("did you mean 1us?"));
  EXPECT_THAT(parsed(as_memory("x"), "192").second, HasSubstr("did you mean 192GiB?"));
  EXPECT_THAT(parsed(as_core_rate("x"), "30e9").second, HasSubstr("did you mean 30e9flop/s?"));
  EXPECT_EQ(parsed(as_core_rate("x"), "30Gflop/s"), std::pair(30.0, std::string()));
}

}  // namespace
}  // namespace hplcast::cli
