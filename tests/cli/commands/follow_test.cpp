// hplcast follow on a file that grows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "hplcast/core/files.hpp"
#include "hplcast/core/prediction.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string recorded = HPLCAST_SOURCE_DIR "/examples/follow/HPL.out";

/// The lines of the recorded example, one by one into a file.
void print_slowly(const std::string& path, bool to_the_end) {
  std::istringstream in(core::read_text(recorded));
  std::ofstream out(path);
  for (std::string line; std::getline(in, line);) {
    if (!to_the_end && line.rfind("WR", 0) == 0) return;
    out << line << std::endl;
    if (line.rfind("Column=", 0) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST(FollowCommand, EndsWithTheRunThatItFollows) {
  const core::TemporaryFolder folder("hplcast-follow-test");
  const std::string path = folder.path() / "HPL.out";
  std::ofstream(path).close();
  std::thread hpl(print_slowly, path, true);
  const Outcome followed = run_hplcast_words({"follow", path, "--json"});
  hpl.join();
  EXPECT_EQ(followed.status, 0) << followed.output;
  EXPECT_THAT(followed.output, HasSubstr("\"state\":\"ended\""));
  const Outcome at_once = run_hplcast_words({"follow", recorded, "--json"});
  EXPECT_EQ(followed.output, at_once.output) << "lines may come in parts";
}

TEST(FollowCommand, DoesNotWaitLongerThanAsked) {
  const core::TemporaryFolder folder("hplcast-follow-test");
  const std::string path = folder.path() / "HPL.out";
  std::ofstream(path).close();
  std::thread hpl(print_slowly, path, false);
  const Outcome followed = run_hplcast_words({"follow", path, "--timeout", "3s"});
  hpl.join();
  EXPECT_EQ(followed.status, 3) << followed.output;
  EXPECT_THAT(followed.output, HasSubstr("ends without a result, at 99."));
}

TEST(FollowCommand, ThrottlingHasItsTimeOfDay) {
  const Outcome followed = run_hplcast_words({"follow", recorded});
  EXPECT_EQ(followed.status, 0) << followed.output;
  // The example loses 7 % after 40 s; HPL began at 9 o'clock.
  EXPECT_THAT(followed.output,
              ::testing::ContainsRegex("  -[67]\\.. % of the rate after (39|40|41)s.*2026-11-26 09:00:"));
}

TEST(FollowCommand, TakesThePredictionOfTheRun) {
  const core::TemporaryFolder folder("hplcast-follow-test");
  std::ifstream in(HPLCAST_SOURCE_DIR "/tests/cli/bad_inputs/base/predictions.json");
  core::Prediction prediction = core::read_predictions(in, "predictions.json").at(0), other;
  prediction.parameters.N = 60000;
  prediction.parameters.NB = 240;
  prediction.time_s = 70;
  other = prediction;
  other.parameters.NB = 64;
  other.time_s = 100;
  const std::string one = folder.path() / "one.json", both = folder.path() / "both.json";
  std::ofstream out_of_one(one), out_of_both(both);
  core::write_prediction(out_of_one, prediction);
  core::write_predictions(out_of_both, {other, prediction});
  out_of_one.close();
  out_of_both.close();
  const Outcome whole = run_hplcast_words({"follow", recorded, "--predicted", one, "--json"});
  EXPECT_EQ(whole.status, 0) << whole.output;
  EXPECT_THAT(whole.output, HasSubstr("behind_prediction"));
  EXPECT_EQ(run_hplcast_words({"follow", recorded, "--predicted", both, "--json"}).output, whole.output);
  // Its last lines alone do not tell that the grid is 1 x 2.
  const std::string text = core::read_text(recorded), tail = folder.path() / "tail.out";
  std::ofstream(tail) << text.substr(text.find("Column="));
  EXPECT_EQ(run_hplcast_words({"follow", tail, "-N", "60000", one, "--json"}).output, whole.output);
}

TEST(FollowCommand, DrawsWhatEachLineLetExpect) {
  const core::TemporaryFolder folder("hplcast-follow-test");
  const std::string picture = folder.path() / "follow.svg";
  ASSERT_EQ(run_hplcast_words({"follow", recorded, "--picture", picture}).status, 0);
  const std::string svg = core::read_text(picture);
  for (const char* text : {"interval of 90 %", "HPL&#39;s own result", ">departure</text>", "</svg>"})
    EXPECT_THAT(svg, HasSubstr(text));
  // Also of a run that is given up: then its result is not known.
  const std::string given_up = folder.path() / "given-up.svg";
  EXPECT_EQ(run_hplcast_words({"follow", recorded, "--abort-below", "1990", "--picture", given_up}).status, 5);
  EXPECT_THAT(core::read_text(given_up), Not(HasSubstr("own result")));
}

}  // namespace
}  // namespace hplcast::test
