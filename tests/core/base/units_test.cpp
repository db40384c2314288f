#include "hplcast/core/text.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {
namespace {

TEST(Units, SizesTakeDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("100"), 100.0);
  EXPECT_EQ(parse_bytes("64KiB"), 65536.0);
  EXPECT_EQ(parse_bytes("1.5 GB"), 1.5e9);
  EXPECT_EQ(parse_bytes("2kB"), 2000.0);
}

TEST(Units, BandwidthsTellBitsFromBytes) {
  EXPECT_EQ(parse_bytes_per_s("12.5GBps"), 12.5e9);
  EXPECT_EQ(parse_bytes_per_s("100Gbps"), 12.5e9);
  EXPECT_EQ(parse_bytes_per_s("1GiB/s"), 1073741824.0);
  EXPECT_EQ(parse_bytes_per_s("1e9"), 1e9);
  for (const char* text : {"100Gb/s", "100 Gbit/s", "0.1Tbps", "100000Mb/s"})
    EXPECT_EQ(parse_bytes_per_s(text), 12.5e9) << text;
  EXPECT_THROW(parse_bytes_per_s("100Gb"), UsageError);
}

TEST(Units, RatesOfComputing) {
  for (const char* text : {"30Gflop/s", "30 GFlop/s", "0.03Tflop/s", "3e10", "30GFLOPS"})
    EXPECT_EQ(parse_flop_per_s(text), 30e9) << text;
  EXPECT_THROW(parse_flop_per_s("30GB/s"), UsageError);
}

TEST(Units, DurationsGoFromNanosecondsToDays) {
  EXPECT_DOUBLE_EQ(parse_seconds("1us"), 1e-6);
  EXPECT_EQ(parse_seconds("30min"), 1800.0);
  EXPECT_EQ(parse_seconds("2h"), 7200.0);
  EXPECT_EQ(parse_seconds("0"), 0.0);
}

TEST(Units, AnythingElseIsWrongUsageAndSaysWhatWasExpected) {
  for (const char* text : {"", "KiB", "64 KiBB", "64mib", "-1s", "nan", "inf", "1e999s", "12GB"}) {
    EXPECT_THROW(parse_seconds(text), UsageError) << text;
  }
  try {
    parse_bytes("64Kib");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("`64Kib` is not a size; expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace hplcast::core
