#include "cli/support/progress.hpp"

#include <gtest/gtest.h>

#include "hplcast/core/text.hpp"

namespace hplcast::cli {
namespace {

TEST(Progress, DurationsAreShort) {
  EXPECT_EQ(core::duration_text(0.4), "0s");
  EXPECT_EQ(core::duration_text(59.4), "59s");
  EXPECT_EQ(core::duration_text(192), "3m12s");
  EXPECT_EQ(core::duration_text(7260), "2h01m");
  EXPECT_EQ(core::duration_text(-5), "0s");
}

TEST(Progress, TimeLeftSupposesAConstantSpeed) {
  EXPECT_EQ(progress_line(0.25, 10, "N=5000", 80), "[######..................]  25%, 30s left, N=5000");
}

TEST(Progress, NothingDoneYetGivesNoTime) {
  EXPECT_EQ(progress_line(0, 10, "", 80), "[........................]   0%, time left not known");
}

TEST(Progress, TheBeginOfTheWorkSaysNothingOfItsSpeed) {
  const std::string unknown = "[........................]   0%, time left not known";
  EXPECT_EQ(progress_line(1e-6, 0.5, "", 80), unknown);  // not 5 days
  EXPECT_EQ(progress_line(1e-6, 10, "", 80), unknown);
  EXPECT_EQ(progress_line(0.25, 1, "", 80), "[######..................]  25%, time left not known");
  EXPECT_EQ(progress_line(0.01, 30, "", 80), "[........................]   1%, 49m30s left");
}

TEST(Progress, UntilThenTheTimeLeftIsTheEstimatedOne) {
  EXPECT_EQ(progress_line(0, 0, "", 80, 180), "[........................]   0%, about 3m00s left");
  EXPECT_EQ(progress_line(0.01, 10, "", 80, 180), "[........................]   1%, about 2m50s left");
  EXPECT_EQ(progress_line(0.25, 10, "", 80, 180), "[######..................]  25%, 30s left");
  EXPECT_EQ(progress_line(0.01, 10, "", 80, 9), "[........................]   1%, time left not known");
}

TEST(Progress, LinesNeverGrowBeyondTheTerminal) {
  EXPECT_EQ(progress_line(1, 10, std::string(200, 'x'), 40).size(), 40U);
  EXPECT_EQ(progress_line(7, 10, "", 80), "[########################] 100%, 0s left");
}

TEST(RunningLine, SaysHowFastWorkOfUnknownLengthGoes) {
  EXPECT_EQ(running_line(12.3456, 90, 4.5e6, 80), "12.35 s simulated in 1m30s, 5e+04 messages/s");
  EXPECT_EQ(running_line(0, 0, 0, 80), "0 s simulated in 0s, 0 messages/s");
  EXPECT_EQ(running_line(12.3456, 90, 4.5e6, 10), "12.35 s si");
}

}  // namespace
}  // namespace hplcast::cli
