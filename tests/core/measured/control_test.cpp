#include "hplcast/core/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
using tests::error_in;

const std::string control_header = "rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s\n";

std::vector<ControlRows> controls(const std::string& text) {
  std::istringstream in(text);
  return read_controls(in, "control.csv");
}

TEST(ControlCsv, RoundTripsAndBeginsAControlWithRank0) {
  const std::string text = control_header +
                           "0,a,0,1.5,8x8x8,18,0.008,0.007,0.00025,3e-05\n1,a,1,1.5,8x8x8,18,0.009,0.0085,0,0\n" +
                           "0,a,0,30,8x8x8,17,0.01,0.01,0,0\n";
  const auto read = controls(text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].size(), 2U);
  EXPECT_EQ(read[1].size(), 1U);
  std::ostringstream out;
  out << control_csv_header << '\n';
  for (const ControlRows& rows : read)
    for (const ControlRow& row : rows) write_row(out, row);
  EXPECT_EQ(out.str(), text);
}

TEST(ControlCsv, SaysWhatIsWrong) {
  const std::string row = "0,a,0,1,8x8x8,18,0.008,0.007,0,0\n";
  EXPECT_THAT(error_in([&] { controls("rank,host,core,start_s,shape,calls,wall_ms,cpu_s,sd_s,round_trip_s\n" + row); }),
              HasSubstr("wall_s"));
  EXPECT_THAT(error_in([&] { controls(control_header + row + "1,a,1,1,9x9x9,18,0.008,0.007,0,0\n"); }),
              HasSubstr("found 9x9x9 after 8x8x8; expected one shape"));
  EXPECT_THAT(error_in([&] { controls(control_header + row + "2,a,1,1,8x8x8,18,0.008,0.007,0,0\n"); }),
              HasSubstr("found rank 2; expected 1 or 0"));
  EXPECT_THAT(error_in([&] { controls(control_header + "1,a,1,1,8x8x8,18,0.008,0.007,0,0\n"); }),
              HasSubstr("found rank 1"));
  EXPECT_THAT(error_in([&] { controls(control_header + "4294967296,a,0,1,8x8x8,18,0.008,0.007,0,0\n"); }),
              HasSubstr("found 4294967296; expected at least 0, and at most 2147483647"));
  EXPECT_THAT(error_in([&] { controls(control_header + "0,a,0,1,8x8x8,1e20,0.008,0.007,0,0\n"); }),
              HasSubstr("expected an integer"));
  EXPECT_THAT(error_in([&] { controls(control_header + "0,a,0,1,8x8x8,18,-0.008,0.007,0,0\n"); }),
              HasSubstr("control.csv:2"));
}

TEST(Control, IsTheMedianOfTheSlowestRanks) {
  ControlRow fast, slow;
  fast.shape = slow.shape = "8x8x8";
  fast.wall_s = 1;
  fast.cpu_s = 1;
  fast.round_trip_s = 5;
  slow.cpu_s = 1.5;
  std::vector<ControlRows> all;
  for (const double wall_s : {2., 4., 3.}) {
    slow.wall_s = wall_s;
    all.push_back({fast, slow});
  }
  const Control control = summarized(all);
  EXPECT_EQ(control.shape, "8x8x8");
  EXPECT_EQ(control.wall_s, 3);
  EXPECT_EQ(control.low_s, 2);
  EXPECT_EQ(control.high_s, 4);
  EXPECT_EQ(control.cpu_s, 1.5);
  EXPECT_EQ(control.round_trip_s, 5);
  EXPECT_THROW(summarized({}), DomainError);
}

TEST(Control, OfAClusterStandsInItsProvenance) {
  ClusterModel cluster;
  EXPECT_FALSE(control_of(cluster));
  cluster.provenance =
      R"({"control": {"shape": "8x8x8", "wall_s": 2, "low": 1, "high": 3, "cpu_s": 2, "message_s": 0, "pieces": 4}})";
  ASSERT_TRUE(control_of(cluster));
  EXPECT_EQ(control_of(cluster)->high_s, 3);
  cluster.provenance =
      R"({"control": {"shape": "8x8x8", "wall_s": -2, "low": 1, "high": 3, "cpu_s": 2, "message_s": 0}})";
  EXPECT_THAT(error_in([&] { control_of(cluster); }), HasSubstr("/provenance/control/wall_s"));
  for (const char* below_0 : {"scatter", "lasting"}) {
    cluster.provenance = R"({"control": {"shape": "8x8x8", "wall_s": 2, "low": 1, "high": 3, "cpu_s": 2,
                                         "message_s": 0, ")" +
                         std::string(below_0) + "\": -1}}";
    EXPECT_THAT(error_in([&] { control_of(cluster); }),
                HasSubstr(std::string(", field `/provenance/control/") + below_0 + "`: found -1"));
  }
  cluster.provenance = R"({"control": 8.35})";
  EXPECT_THAT(error_in([&] { control_of(cluster); }), HasSubstr("/provenance/control"));
}

std::vector<HplRun> runs(const std::string& columns, const std::string& values) {
  std::istringstream in("N,NB,P,Q,time_s" + columns + "\n100,10,1,1,1" + values + "\n");
  return read_hpl_csv(in, "real.csv", {});
}

TEST(RunsCsv, HaveTheControlBeforeAndAfterOrNone) {
  EXPECT_FALSE(runs("", "").front().control) << "a file of an older hplcast";
  const std::string columns = ",control_shape,control_before_s,control_after_s,control_cpu_s";
  EXPECT_FALSE(runs(columns, ",,,,").front().control);
  const auto control = runs(columns, ",8x8x8,0.03,0.01,0.015").front().control;
  ASSERT_TRUE(control);
  EXPECT_DOUBLE_EQ(control->wall_s, 0.02);
  EXPECT_EQ(control->low_s, 0.01);
  EXPECT_EQ(control->high_s, 0.03);
  EXPECT_EQ(control->cpu_s, 0.015);
  EXPECT_THAT(error_in([&] { runs(",control_shape,control_before_s", ",8x8x8,1"); }), HasSubstr("some are missing"));
  EXPECT_THAT(error_in([&] { runs(",control_before_ms", ",8"); }), HasSubstr("control_before_s"));
  EXPECT_THAT(error_in([&] { runs(columns, ",8x8x8,0.03,0,0.01"); }), HasSubstr("control_after_s"));
}

}  // namespace
}  // namespace hplcast::core
