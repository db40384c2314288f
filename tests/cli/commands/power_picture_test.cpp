// predict --power-trace x.svg, where the prediction is there already, or is of one window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/files.hpp"
#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

/// Whether the command draws the picture, with these words behind `predict CLUSTER`.
void expect_picture(std::vector<std::string> words) {
  const core::TemporaryFolder folder("hplcast-picture-test");
  words.insert(words.begin(), {"predict", HPLCAST_SOURCE_DIR "/examples/dahu-like.json"});
  const auto predict = [&] {
    const Outcome outcome = run_hplcast_words(words, folder.path().string());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
  };
  if (words.back() == "--resume") predict();
  words.insert(words.end(), {"--power-trace", "power.svg"});
  predict();
  EXPECT_THAT(core::read_text(folder.path() / "power.svg"), ::testing::HasSubstr("</svg>"));
}

TEST(PowerPicture, IsDrawnOfAPredictionThatIsThere) {
  expect_picture({"-N", "500", "--energy", "-o", "p.json", "--resume"});
}

TEST(PowerPicture, IsDrawnOfOneWindow) {
  expect_picture(
      {"-N", "4000", "--nb", "32", "-P", "2", "-Q", "2", "--windows", "3", "--only-window", "1", "--keep", "windows"});
}

}  // namespace
}  // namespace hplcast::test
