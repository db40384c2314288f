// The way of a user: run-real --phases, predict --phases, explain. With the real xhpl-instrumented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ExplainCommand : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Json json_of(const std::string& name) const { return Json::parse(text_of(folder_.path() / name)); }
  void run(const std::vector<std::string>& words) {
    const auto result = run_hplcast_words(words);
    ASSERT_EQ(result.status, 0) << result.output;
    output_ = result.output;
  }

  core::TemporaryFolder folder_{"hplcast-explain-command"};
  std::string output_;
};

TEST_F(ExplainCommand, ExplainsARealRunFromEndToEnd) {
  const std::string cluster = HPLCAST_SOURCE_DIR "/examples/dahu-like.json";
  std::ofstream(path("runs.csv")) << "N,NB,P,Q\n300,32,1,2\n";
  run({"run-real", path("runs.csv"), "--phases", "--trace", path("traces"), "--repetitions", "2", "--control", "off",
       "--oversubscribe", "-o", path("observed.csv")});
  run({"predict", cluster, "--hpl-dat", path("runs.csv"), "--phases", "-o", path("prediction.json")});
  run({"explain", path("observed.csv"), path("prediction.json"), "--cluster", cluster, "-o", path("explained.json"),
       "--trace", path("both.json"), "--picture", path("both.svg"), "--counterfactuals", "on"});
  EXPECT_THAT(output_, HasSubstr("not explained"));

  const Json explained = json_of("explained.json");
  EXPECT_EQ(explained.at("runs"), 2);
  EXPECT_TRUE(explained.at("simulated"));
  EXPECT_LE(explained.at("verdict").size(), 10U);
  double sum_s = explained.at("rest_s");
  for (const Json& cause : explained.at("causes")) sum_s += cause.at("simulated_s").get<double>();
  const double difference_s = explained.at("difference_s");
  EXPECT_NEAR(sum_s, difference_s, 1e-9 * std::abs(difference_s)) << "shares and rest add up";

  // The model is asked about the calls that the simulation makes, too.
  const Json kernels = json_of("prediction.json").at("kernels");
  for (const Json& kernel : explained.at("kernels")) {
    if (kernel.at("kernel") != "dgemm" && kernel.at("kernel") != "dtrsm") continue;
    const Json& predicted = kernels.at(kernel.at("kernel").get<std::string>());
    // A panel that arrives during an update cuts that in two, on a busy machine more often: 12 times at most.
    EXPECT_NEAR(kernel.at("calls"), predicted.at("calls"), 12);
    // Each cut costs the smaller parts some of their rate: 15 % of the time of dgemm if all updates are cut.
    EXPECT_NEAR(kernel.at("model_s"), predicted.at("time_s"), 0.2 * predicted.at("time_s").get<double>()) << "noise";
  }

  std::set<std::pair<int, std::string>> rows;
  const Json trace = json_of("both.json");
  std::map<std::string, double> first_factorisation;  // by row, in us
  std::map<int, std::string> names;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") {
      rows.emplace(event.at("pid"), event.at("args").at("name"));
      names[event.at("tid")] = event.at("args").at("name");
    }
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur"), 0);
    ASSERT_EQ(names.count(event.at("tid")), 1U) << "a row without a name";
    if (event.at("name") != "factorisation") continue;
    const std::string& kind = names.at(event.at("tid"));
    const double begin_us = event.at("ts");
    const auto known = first_factorisation.emplace(kind, begin_us).first;
    known->second = std::min(known->second, begin_us);
  }
  EXPECT_NEAR(first_factorisation.at("real"), 0, 1e-3) << "both begin with the first factorisation";
  EXPECT_NEAR(first_factorisation.at("simulated"), 0, 1e-3);
  EXPECT_EQ(rows,
            (std::set<std::pair<int, std::string>>{{0, "real"}, {0, "simulated"}, {1, "real"}, {1, "simulated"}}));
  EXPECT_THAT(text_of(folder_.path() / "both.svg"), HasSubstr("rank 1, real"));
}

}  // namespace
}  // namespace hplcast::test
