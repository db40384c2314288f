#include "hplcast/core/imported.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BenchmarkOutput read(const std::string& text) {
  std::istringstream in(text);
  return read_benchmark_output(in, "out.txt", "remote");
}

std::string error_of(const std::string& text) {
  return tests::error_in([&] { read(text); });
}

const std::string osu_5 = "# OSU MPI Latency Test v5.9\n# Size          Latency (us)\n";

TEST(BenchmarkOutput, OsuLatencyGivesRoundTrips) {
  const auto output = read("mpirun: some words\n" + osu_5 + "0    1.25\n4194304   350.5\n\n");
  ASSERT_EQ(output.rows.size(), 2U);
  EXPECT_EQ(output.rows[0].operation, "pingpong");
  EXPECT_EQ(output.rows[0].scope, "remote");
  EXPECT_EQ(output.rows[0].size_bytes, 0);
  EXPECT_DOUBLE_EQ(output.rows[0].duration_s, 2.5e-6);
  EXPECT_DOUBLE_EQ(output.rows[1].duration_s, 701e-6);
  EXPECT_EQ(output.rows[1].source, "osu_latency v5.9");
}

/// 358.02 us, cut to 35 us, was taken without a word.
TEST(BenchmarkOutput, AFileWithoutAnEndMayBeCutOff) {
  EXPECT_THAT(read(osu_5 + "0    1.25\n4194304   35").notes, ElementsAre(HasSubstr("was the file cut off")));
  EXPECT_TRUE(read(osu_5 + "0    1.25\n4194304   358.02\n").notes.empty());
}

TEST(BenchmarkOutput, LaterVersionsSayMore) {
  const auto output = read(
      "\n# OSU MPI Latency Test v7.2\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)    Min Latency(us)\n"
      "1    1.5    1.4\n# OSU MPI Bandwidth Test v7.2\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
      "1000000      10000.00\n");
  ASSERT_EQ(output.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(output.rows[0].duration_s, 3e-6);
  EXPECT_EQ(output.rows[1].operation, "stream");
  EXPECT_DOUBLE_EQ(output.rows[1].duration_s, 1e-4);
}

TEST(BenchmarkOutput, OfTheIntelBenchmarksPingPongCounts) {
  const auto output = read(
      "# List of Benchmarks to run:\n# PingPong\n# PingPing\n#-----\n# Benchmarking PingPong \n# #processes = 2 "
      "\n#-----\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n            0         1000         0.50         0.00\n"
      "      1048576           40       100.00     10485.76\n\n#-----\n# Benchmarking PingPing \n# #processes = 2 \n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n            0         1000         0.70         0.00\n");
  ASSERT_EQ(output.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(output.rows[0].duration_s, 1e-6);
  EXPECT_EQ(output.rows[1].source, "IMB PingPong");
  EXPECT_THAT(output.notes, ElementsAre("IMB PingPing says nothing here: left out"));
}

TEST(BenchmarkOutput, WhatIsDamagedOrSomethingElseIsRefused) {
  EXPECT_THAT(error_of("hello\n"), HasSubstr("no table of osu_latency, osu_bw or IMB PingPong"));
  EXPECT_THAT(error_of(""), HasSubstr("no table"));
  EXPECT_THAT(error_of("# OSU MPI Bi-Directional Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n1 2\n"),
              HasSubstr("no table"));
  EXPECT_THAT(error_of("# OSU MPI Latency Test v5.9\n# Size   Latency (ms)\n1 2\n"),
              HasSubstr("expected a column in (us)"));
  EXPECT_THAT(error_of(osu_5 + "1 0.00\n"), HasSubstr("out.txt:3: not a row of the table of osu_latency v5.9"));
  for (const char* row : {"1\n", "1 nan\n", "1x 2\n", "1 2us\n"})
    EXPECT_THAT(error_of(osu_5 + row), HasSubstr("not a row")) << row;
  EXPECT_THAT(error_of(osu_5), HasSubstr("has no rows"));
  EXPECT_THAT(error_of("# OSU MPI Latency Test v5.9\n1 2\n"), HasSubstr("before the header"));
}

}  // namespace
}  // namespace hplcast::core
