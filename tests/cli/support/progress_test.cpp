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
