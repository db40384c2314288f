#include "hplcast/core/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

TEST(Process, ArgumentsAreNotSeenByAShell) {
  const auto result = run({"printf", {"%s|", "a b", "$HOME", "'\"; exit 3"}, {}, {}, {}, 0, {}});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "a b|$HOME|'\"; exit 3|");
}

TEST(Process, PassesEnvironmentAndFolder) {
  const auto result = run({"sh", {"-c", "echo $HPLCAST_X; pwd"}, {{"HPLCAST_X", "y z"}}, "/", {}, 0, {}});
  EXPECT_EQ(result.output, "y z\n/\n");
}

TEST(Process, StatusIsAValueAndCheckedIsAnError) {
  const Command failing = {"sh", {"-c", "echo one; echo two >&2; exit 7"}, {}, {}, {}, 0, {}};
  EXPECT_EQ(run(failing).status, 7);
  const std::string message = tests::error_in([&] { run_checked(failing); });
  EXPECT_THAT(message, HasSubstr("ended with status 7"));
  EXPECT_THAT(message, HasSubstr("one\ntwo"));
}

TEST(Process, AMissingProgramIsNamed) {
  EXPECT_THAT(tests::error_in([] {
                run({"hplcast-no-such-program", {}, {}, {}, {}, 0, {}});
              }),
              HasSubstr("cannot run hplcast-no-such-program: no such program in PATH"));
}

/// Whether a process runs: a zombie that nobody has reaped yet does not.
bool runs(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  stat >> number >> name >> state;
  return stat && state != "Z";
}

TEST(Process, ATimeoutKillsTheWholeGroup) {
  const auto result = run({"sh", {"-c", "sleep 100 & echo $!; sleep 100"}, {}, {}, {}, 0.3, {}});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status, 124);
  const std::string background = result.output.substr(0, result.output.find('\n'));
  ASSERT_FALSE(background.empty());
  for (int i = 0; i < 20 && runs(background); ++i) usleep(100000);
  EXPECT_FALSE(runs(background)) << "a process of the group is left";
}

TEST(Process, IsTypedAsAShellWouldWantIt) {
  EXPECT_EQ(to_string(Command{"prog", {"a b", "it's", "plain"}, {{"X", "1 2"}}, {}, {}, 0, {}}),
            "X='1 2' prog 'a b' 'it'\\''s' plain");
}

}  // namespace
}  // namespace hplcast::core
