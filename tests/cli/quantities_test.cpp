#include "quantities.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {
namespace {

TEST(Quantities, SizesTakeDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("100"), 100.0);
  EXPECT_EQ(parse_bytes("64KiB"), 65536.0);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1.5e9);
  EXPECT_EQ(parse_bytes("2kB"), 2000.0);
}

TEST(Quantities, BandwidthsTellBitsFromBytes) {
  EXPECT_EQ(parse_bytes_per_s("12.5GBps"), 12.5e9);
  EXPECT_EQ(parse_bytes_per_s("100Gbps"), 12.5e9);
  EXPECT_EQ(parse_bytes_per_s("1GiB/s"), 1073741824.0);
  EXPECT_EQ(parse_bytes_per_s("1e9"), 1e9);
}

TEST(Quantities, DurationsGoFromNanosecondsToDays) {
  EXPECT_DOUBLE_EQ(parse_seconds("1us"), 1e-6);
  EXPECT_EQ(parse_seconds("30min"), 1800.0);
  EXPECT_EQ(parse_seconds("2h"), 7200.0);
  EXPECT_EQ(parse_seconds("0"), 0.0);
}

TEST(Quantities, AnythingElseIsWrongUsageAndSaysWhatWasExpected) {
  for (const char* text : {"", "KiB", "64 KiBB", "64mib", "-1s", "nan", "inf", "1e999s", "12GB"}) {
    EXPECT_THROW(parse_seconds(text), core::UsageError) << text;
  }
  try {
    parse_bytes("64Kib");
    FAIL();
  } catch (const core::UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("`64Kib` is not a size; expected"), std::string::npos);
  }
}

TEST(Quantities, OptionsKeepAllDigits) {
  CLI::App app;
  double seconds = 0;
  app.add_option("--budget", seconds)->transform(as_seconds());
  const char* arguments[] = {"program", "--budget", "0.1us"};
  app.parse(3, arguments);
  EXPECT_EQ(seconds, parse_seconds("0.1us"));
}

TEST(Quantities, AWrongOptionIsAnErrorOfTheParser) {
  CLI::App app;
  double seconds = 0;
  app.add_option("--budget", seconds)->transform(as_seconds());
  const char* arguments[] = {"program", "--budget", "soon"};
  EXPECT_THROW(app.parse(3, arguments), CLI::ValidationError);
}

}  // namespace
}  // namespace hplcast::cli
