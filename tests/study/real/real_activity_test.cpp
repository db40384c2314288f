#include "hplcast/study/real_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/study/activity_files.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::study {
namespace {

using testing::activity_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::error_in;

class RealActivityOfTwoRanks : public ::testing::Test {
 protected:
  RealActivityOfTwoRanks() {
    run.parameters.N = 1000;
    run.parameters.Q = 2;
    run.time_s = 10;
    write(0, activity_of(0));
    write(1, activity_of(1));
  }
  void write(int rank, const std::string& text) const {
    std::ofstream(folder.path() / ("run-" + std::to_string(rank) + ".activity")) << text;
  }
  RealActivity read() const { return read_real_activity(folder.path(), run, observation, trace()); }
  std::filesystem::path trace() const {
    return observation.traces.empty() ? std::filesystem::path() : folder.path() / "trace.json";
  }
  nlohmann::json json_of(const char* name) const { return nlohmann::json::parse(test::text_of(folder.path() / name)); }

  core::TemporaryFolder folder{"hplcast-activity"};
  core::HplRun run;
  RealObservation observation;
};

TEST_F(RealActivityOfTwoRanks, HasTheColumnsOfAPrediction) {
  const RealActivity activity = read();
  ASSERT_EQ(activity.phases.size(), 6U);
  const core::PhaseSummary& broadcast = activity.phases[2];
  EXPECT_EQ(broadcast.name, "broadcast");
  EXPECT_EQ(broadcast.elapsed_s, 6);
  EXPECT_EQ(broadcast.kernels_s, 0);
  // Rank 1: 2 s until the sender comes, 0.5 s of empty probes; 3.75 s in calls. Rank 0 does not wait.
  EXPECT_NEAR(broadcast.waiting_s, 2.5 / 2, 1e-9);
  EXPECT_NEAR(broadcast.messages_s, (0.5 + 3.75 - 2.5) / 2, 1e-9);
  EXPECT_EQ(activity.phases[4].kernels_s, 2);
  EXPECT_EQ(activity.known_waiting, 1);
  EXPECT_EQ(activity.kernels.at("dgemm").calls, 2U);
}

TEST_F(RealActivityOfTwoRanks, IsWrittenWithTheKeysOfAPrediction) {
  read();
  core::Prediction prediction;
  prediction.phases = {{"broadcast", 1, 1, 1, 0, 0, 0}};
  std::ostringstream text;
  core::write_prediction(text, prediction);
  const auto predicted = nlohmann::json::parse(text.str());
  const auto real = json_of("phases.json");
  for (const auto& [key, value] : predicted.at("phases").at("broadcast").items())
    EXPECT_TRUE(real.at("phases").at("broadcast").contains(key)) << key;
  for (const char* key : {"parameters", "time_s", "gflops", "kernels", "messages"}) EXPECT_TRUE(real.contains(key));
  EXPECT_EQ(real.at("clocks").size(), 2U);
  EXPECT_EQ(real.at("clocks")[1].at("offset_s"), 100);
  EXPECT_THAT(test::text_of(folder.path() / "phases.csv"),
              HasSubstr("rank,phase,elapsed_s,kernels_s,messages_s,waiting_s\n0,other,1,"));
}

TEST_F(RealActivityOfTwoRanks, ATraceHasChosenRanksByTheClockOfRankZero) {
  observation.traces = folder.path();
  read();
  auto events = json_of("trace.json").at("traceEvents");
  const auto is = [](const char* name) { return [name](const auto& event) { return event.at("name") == name; }; };
  const auto received = std::find_if(events.begin(), events.end(), is("recv"));
  ASSERT_NE(received, events.end());
  EXPECT_EQ(received->at("ts"), 1e6);
  EXPECT_EQ(received->at("tid"), 1);
  EXPECT_EQ(received->at("args").at("waited_us"), 2e6);
  EXPECT_EQ(std::count_if(events.begin(), events.end(), is("process_name")), 2);
  observation.ranks = {0, 0};
  observation.panels = {1, 1};
  read();
  events = json_of("trace.json").at("traceEvents");
  EXPECT_EQ(std::count_if(events.begin(), events.end(), is("recv")), 0) << "rank 1";
  EXPECT_EQ(std::count_if(events.begin(), events.end(), is("send")), 0) << "panel 0";
  EXPECT_EQ(std::count_if(events.begin(), events.end(), is("dgemm")), 1);
}

TEST_F(RealActivityOfTwoRanks, WarnsOfOverheadAndClocks) {
  EXPECT_NEAR(read().overhead, 0.025, 1e-12);  // 0.25 s of 10 s
  EXPECT_THAT(read().warnings, Contains(HasSubstr("2.5 % of the run")));
  std::string jumped = activity_of(0);
  jumped.replace(jumped.find("clock,1,170,100"), 15, "clock,1,170,101");
  write(0, jumped);
  EXPECT_THAT(read().warnings, Contains(AllOf(HasSubstr("clock of node-1"), HasSubstr("jumped"))));
}

TEST_F(RealActivityOfTwoRanks, WarnsOfATraceThatHasNotAllPanels) {
  std::string thinned = activity_of(1);
  thinned.replace(thinned.find("events,1,1,0"), 12, "events,1,4,0");
  write(1, thinned);
  EXPECT_THAT(read().warnings, Not(Contains(HasSubstr("every 4th")))) << "there is no trace";
  observation.traces = folder.path();
  EXPECT_THAT(read().warnings, Contains(HasSubstr("every 4th")));
}

TEST_F(RealActivityOfTwoRanks, RefusesRanksWithoutFiles) {
  std::filesystem::remove(folder.path() / "run-1.activity");
  EXPECT_THAT(error_in([&] { read(); }), AllOf(HasSubstr("rank 1 wrote no"), HasSubstr("1 of 2")));
  std::filesystem::remove(folder.path() / "run-0.activity");
  EXPECT_THAT(error_in([&] { read(); }), HasSubstr("must be xhpl-instrumented"));
}

TEST_F(RealActivityOfTwoRanks, RefusesFilesOfOtherRuns) {
  write(1, activity_of(1, "def"));
  EXPECT_THAT(error_in([&] { read(); }), AllOf(HasSubstr("another run (def)"), HasSubstr("rank 0 (abc)")));
  write(1, activity_of(0));
  EXPECT_THAT(error_in([&] { read(); }), HasSubstr("expected rank 1 of 2"));
  write(1, activity_of(1));
  run.parameters.N = 2000;
  EXPECT_THAT(error_in([&] { read(); }), AllOf(HasSubstr("N=1000 NB=128"), HasSubstr("expected N=2000")));
}

TEST_F(RealActivityOfTwoRanks, RefusesARunThatWasCutOff) {
  write(1, activity_of(1).substr(0, 200));
  EXPECT_THROW(read(), core::ParseError);
}

TEST(ActivityEnvironment, KeepsFewerEventsOfMoreRanks) {
  const auto events = [](int ranks) {
    return std::stoi(activity_environment({}, "/f", ranks).at("HPLCAST_ACTIVITY_EVENTS"));
  };
  EXPECT_EQ(events(2), 100000);
  EXPECT_EQ(events(1000), 2000);
  RealObservation traced;
  EXPECT_EQ(activity_environment(traced, "/f", 2).count("HPLCAST_TRACE_RANKS"), 0U);
  traced.traces = "/t";
  traced.ranks = {3, 5};
  EXPECT_EQ(activity_environment(traced, "/f", 2).at("HPLCAST_TRACE_RANKS"), "3-5");
  EXPECT_EQ(activity_environment(traced, "/f", 2).count("HPLCAST_TRACE_PANELS"), 0U);
}

}  // namespace
}  // namespace hplcast::study
