// hplcast fit network and hplcast fit segmented, as they are built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/files.hpp"
#include "tests/support/reference_data.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string example = "examples/fit-library/mpi.csv";

class FitCommands : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name)) << content;
    return path(name);
  }

  /// The JSON that the command writes with -o.
  json result_of(const std::string& arguments) const {
    const Outcome outcome = run_hplcast(arguments + " -o " + path("result.json"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::ifstream in(path("result.json"));
    return json::parse(in, nullptr, false);
  }

  core::TemporaryFolder folder_{"hplcast-fit"};
};

TEST_F(FitCommands, NetworkWritesWhatAssembleReads) {
  const json result = result_of("fit network " + example);
  std::ifstream in(path("result.json"));
  const core::NetworkModel model = core::read_network_model(in, "result.json");
  ASSERT_TRUE(model.values().remote.has_value());
  // The file was made with a threshold of 64000 bytes; the sends around it are 61440 and 65536 bytes long.
  EXPECT_GT(model.values().detached_bytes, 61440u);
  EXPECT_LE(model.values().detached_bytes, 65536u);
  EXPECT_NEAR(model.scope(core::Scope::remote).cost(core::MessageCost::send).mean_s(1000), 1e-6, 5e-8);
  EXPECT_EQ(result.at("smpi").at("send_is_detached_thresh"), model.values().detached_bytes);
  EXPECT_EQ(result.at("smpi").at("remote").at("bw_factor").size(),
            model.scope(core::Scope::remote).cost(core::MessageCost::transfer).segments().size());
  EXPECT_EQ(result.at("report").at("operations").size(), 8u);
}

TEST_F(FitCommands, NetworkTakesThresholdsFromTheirOwnMeasurement) {
  const std::string thresholds =
      file("thresholds.json", R"({"thresholds": [{"scope": "local", "async_small_bytes": 10, "detached_bytes": 20},
                                  {"scope": "remote", "async_small_bytes": 4000, "detached_bytes": null}]})");
  const json result = result_of("fit network " + example + " --thresholds " + thresholds);
  EXPECT_EQ(result.at("smpi").at("async_small_thresh"), 4000);
  EXPECT_EQ(result.at("smpi").at("send_is_detached_thresh"), 2147483647);
  const Outcome broken =
      run_hplcast("fit network " + example + " --thresholds " + file("broken.json", "{\"thresholds\": 3}"));
  EXPECT_EQ(broken.status, 3);
  EXPECT_THAT(broken.output, HasSubstr("hplcast-measure-thresholds"));
}

TEST_F(FitCommands, NetworkTellsOfBreakpointsThatItsSizesLeaveOut) {
  const std::string output = run_hplcast("fit network " + example + " --breakpoints 1000,64000,1e9").output;
  EXPECT_THAT(output, HasSubstr("note: remote: no breakpoint at 1000000000 bytes"));
  EXPECT_THAT(output, Not(HasSubstr("no breakpoint at 64000")));
}

TEST_F(FitCommands, NetworkReproducesAPublishedCalibrationFromItsFolder) {
  HPLCAST_REFERENCE_FILE(reference_json, "mpi-calibration/taurus/reference.json");
  const json result =
      result_of("fit network " + reference_json.parent_path().string() +
                " --published --breakpoints 1420,33500,65536,320000 --async-small 65536 --detached 320000 "
                "--bandwidth 1.25GBps --latency 24us");
  std::ifstream in(reference_json);
  const json segments = json::parse(in).at("recomputed").at("segments");
  const json& smpi = result.at("smpi").at("remote");
  ASSERT_EQ(smpi.at("bw_factor").size(), segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const double expected = segments[i].at("bw_factor_unclipped");
    EXPECT_NEAR(smpi.at("bw_factor")[i].at("factor").get<double>(), expected, 1e-9 * expected);
  }
}

TEST_F(FitCommands, NetworkFindsTheCapacityOfTheLink) {
  // 1, 2, 4 pairs, each turn with a row a pair; the last pair of a turn says how long all took: 8 GB/s from two on.
  std::string rows = "order,pairs,operation,scope,size_bytes,duration_s\n";
  int order = 0;
  for (const int pairs : {1, 2, 4}) {
    for (int size = 1; size <= 8; ++size, ++order) {
      const double all_s = 1e-5 + pairs * size * 1e6 / (pairs == 1 ? 4e9 : 8e9);
      for (int pair = 0; pair < pairs; ++pair) {
        rows += std::to_string(order) + "," + std::to_string(pairs) + ",one_way,remote," + std::to_string(size) +
                "000000," + std::to_string(all_s * (pair == 0 ? 1 : 0.9)) + "\n";
      }
    }
  }
  const std::string command = "fit network " + example + " " + file("saturation.csv", rows);
  const json result = result_of(command);
  const json capacity = result.at("remote").at("capacity");
  EXPECT_NEAR(capacity.at("bytes_per_s").get<double>(), 8e9, 0.01 * 8e9);  // durations have six decimals
  EXPECT_EQ(capacity.at("origin"), "measured");
  const json& found = result.at("report").at("saturation").at("remote");
  EXPECT_EQ(found.at("points").size(), 3u);
  EXPECT_EQ(found.at("plateau_pairs"), json({2, 4}));
  EXPECT_NEAR(found.at("single_pair").at("bytes_per_s").get<double>(), 4e9, 0.01 * 4e9);
  EXPECT_FALSE(result.at("local").contains("capacity"));

  const json given = result_of(command + " --capacity 100Gbps --local-capacity 20GBps");
  EXPECT_EQ(given.at("remote").at("capacity").at("bytes_per_s"), 12.5e9);
  EXPECT_EQ(given.at("local").at("capacity").at("origin"), "given");
  const Outcome wrong = run_hplcast(command + " --capacity 1MBps -o " + path("result.json"));
  EXPECT_EQ(wrong.status, 0);
  EXPECT_THAT(wrong.output, HasSubstr("fit network: warning: remote: capacity_below_rate: a single message of"));
  const Outcome zero =
      run_hplcast("fit network --one-way " + file("pairs.csv", "size_bytes,duration_s,pairs\n1,1,0\n"));
  EXPECT_EQ(zero.status, 3);
  EXPECT_THAT(zero.output, HasSubstr("pairs.csv:2, field `pairs`: found 0; expected at least 1"));
}

TEST_F(FitCommands, NetworkSaysWhatItCannotUse) {
  const Outcome nothing = run_hplcast("fit network");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.output, HasSubstr("--pingpong FILE"));
  const Outcome unnamed = run_hplcast("fit network " + file("rows.csv", "size_bytes,duration_s\n1,1e-6\n"));
  EXPECT_EQ(unnamed.status, 3);
  EXPECT_THAT(unnamed.output, HasSubstr("operation"));
  const Outcome no_pingpong = run_hplcast("fit network --recv " + path("rows.csv"));
  EXPECT_EQ(no_pingpong.status, 4);
  EXPECT_THAT(no_pingpong.output, HasSubstr("no rows of operation `pingpong`"));
  const Outcome negative =
      run_hplcast("fit network --pingpong " + file("bad.csv", "size_bytes,duration_s\n1,1e-6\n2,-1\n"));
  EXPECT_EQ(negative.status, 3);
  EXPECT_THAT(negative.output, HasSubstr("bad.csv:3"));
  const Outcome scope =
      run_hplcast("fit network --pingpong " + file("far.csv", "scope,size_bytes,duration_s\nfar,1,1e-6\n"));
  EXPECT_EQ(scope.status, 3);
  EXPECT_THAT(scope.output, HasSubstr("far.csv:2, field `scope`: found `far`; expected local or remote"));
  for (const char* wrong :
       {"--objective median", "--noise pink", "--breakpoints 5,3", "--async-small 2 --detached 1", "--wtime-calls 0"})
    EXPECT_EQ(run_hplcast("fit network " + example + " " + wrong).status, 2) << wrong;
  EXPECT_EQ(run_hplcast("fit network --pingpong /dev/stdin < /dev/null").status, 2);
  const Outcome filter = run_hplcast("fit network " + example + " --filter strong");
  EXPECT_EQ(filter.status, 2);
  EXPECT_THAT(filter.output, HasSubstr("robust,visits,none"));
}

TEST_F(FitCommands, SegmentedWritesTheFieldsOfTheContract) {
  const json result = result_of("fit segmented " + example + " --where operation=pingpong --where scope=remote");
  for (const char* field : {"objective", "bic", "rss", "breakpoints", "segments"})
    EXPECT_TRUE(result.contains(field)) << field;
  ASSERT_EQ(result.at("segments").size(), 2u);
  for (const char* field : {"min", "slope", "intercept", "n"})
    EXPECT_TRUE(result.at("segments")[0].contains(field)) << field;
  EXPECT_EQ(result.at("breakpoints")[0], result.at("segments")[1].at("min"));
}

TEST_F(FitCommands, SegmentedFitsGroupsAndGivenBreakpoints) {
  const json result =
      result_of("fit segmented --by scope,operation --objective ols --breakpoints 1000,64000 " + example);
  ASSERT_EQ(result.at("groups").size(), 13u);  // five operations in two scopes, three probes in one
  for (const json& group : result.at("groups"))
    EXPECT_EQ(group.at("breakpoints").size(), group.at("segments").size() - 1) << group.dump();
}

TEST_F(FitCommands, SegmentedTellsOfBreakpointsWithoutRows) {
  const std::string fit =
      "fit segmented --where operation=pingpong --where scope=remote " + example + " --breakpoints ";
  EXPECT_THAT(run_hplcast(fit + "64000,1e9").output, HasSubstr("breakpoints without rows on both sides"));
  EXPECT_THAT(run_hplcast(fit + "64000").output, Not(HasSubstr("breakpoints without rows")));
}

TEST_F(FitCommands, SegmentedAddsTheNoiseOfEachSegment) {
  const json result =
      result_of("fit segmented " + example + " --where operation=pingpong --where scope=remote --noise mixture");
  const json& noise = result.at("segments")[0].at("noise");
  EXPECT_GT(noise.at("sd").get<double>(), 0);
  EXPECT_GE(noise.at("mixture").size(), 1u);
  EXPECT_EQ(run_hplcast("fit segmented - --noise n1").status, 2);
}

TEST_F(FitCommands, DrawPictures) {
  ASSERT_EQ(
      run_hplcast("fit segmented " + example + " --by scope,operation --noise mixture --plot " + path("s.svg")).status,
      0);
  EXPECT_TRUE(std::filesystem::exists(path("s-remote-pingpong.svg")));
  ASSERT_EQ(run_hplcast("fit network " + example + " --noise n1 --plot " + path("n.png")).status, 0);
  EXPECT_TRUE(std::filesystem::exists(path("n-local-send.png")));
  EXPECT_EQ(run_hplcast("fit segmented " + example + " --by operation --plot fit.pdf").status, 2);
}

TEST_F(FitCommands, SegmentedReadsTheStandardInput) {
  const Outcome outcome =
      run_hplcast("fit segmented - < " + file("rows.csv", "size_bytes,duration_s\n1,2\n2,3\n3,4\n4,5\n"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("\"segments\""));
}

TEST_F(FitCommands, SegmentedRefusesToMixOperations) {
  const Outcome outcome = run_hplcast("fit segmented " + example);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("--by "));
}

TEST_F(FitCommands, SegmentedSaysWhatItCannotUse) {
  for (const char* wrong : {"--objective median", "--noise pink", "--breakpoints 5,3", "--breakpoints nan",
                            "--min-sizes 1", "--max-segments 0", "--significance 2", "--by scope,scope"})
    EXPECT_EQ(run_hplcast("fit segmented " + example + " " + wrong).status, 2) << wrong;
  const Outcome pipe = run_hplcast("fit segmented /dev/stdin --noise n1 < /dev/null");
  EXPECT_EQ(pipe.status, 2);
  EXPECT_THAT(pipe.output, HasSubstr("expected a file, not a pipe"));
  EXPECT_EQ(run_hplcast("fit segmented " + example + " --where operation").status, 2);
  EXPECT_EQ(run_hplcast("fit segmented " + example + " --where operation=none").status, 4);
  EXPECT_EQ(run_hplcast("fit segmented no-such-file.csv").status, 3);
  const Outcome zero =
      run_hplcast("fit segmented --objective weighted " + file("zero.csv", "size_bytes,duration_s\n0,1\n1,2\n"));
  EXPECT_EQ(zero.status, 4);
  EXPECT_THAT(zero.output, HasSubstr("size 0"));
  const Outcome nan = run_hplcast("fit segmented " + file("nan.csv", "size_bytes,duration_s\n1,nan\n"));
  EXPECT_EQ(nan.status, 3);
  EXPECT_THAT(nan.output, HasSubstr("nan.csv:2"));
}

}  // namespace
}  // namespace hplcast::test
