#include "hplcast/core/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/variables.hpp"

namespace hplcast::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  EXPECT_THAT(tests::error_in([&] { run_checked(failing); }), HasSubstr("sh ended with status 7"));
}

TEST(Process, AFailureIsOneLineWithPurposeStatusAndTheFileOfTheOutput) {
  const TemporaryFolder folder("hplcast-process");
  Command failing = {"sh", {"-c", "echo start; echo 'an error: no luck'; echo end; kill -SEGV $$"}, {}, {}, {}, 0, {}};
  failing.purpose = "the test";
  failing.output = folder.path() / "log";
  const std::string message = tests::error_in([&] { run_checked(failing); });
  EXPECT_THAT(message, StartsWith("the test failed: sh was ended by signal 11 (Segmentation fault); its "
                                  "output is in " +
                                  failing.output.string() + "\n  it said: an error: no luck\n  hint: --verbose"));
}

TEST(Process, WhatSmpirunAddsIsNotWhatAProgramSaid) {
  const std::string added =
      "[node-1:1:(2) 0.0] ./smpi_global.cpp:645: [smpi_kernel/WARNING] SMPI process did not return 0. Return value : "
      "3\n"
      "/x/solver --cfg=smpi/privatization:1  --cfg=network/model:SMPI\nExecution failed with code 3.\n";
  std::istringstream nothing(added), something("cannot be opened: in.dat\n" + added);
  EXPECT_EQ(telling_line(nothing), "");
  EXPECT_EQ(telling_line(something), "cannot be opened: in.dat");
}

TEST(Process, CapturedOutputOfAFailureIsLeftInAFile) {
  const std::string message = tests::error_in([] {
    run_checked({"sh", {"-c", "echo one; echo two; exit 7"}, {}, {}, {}, 0, {}});
  });
  const std::string before = "its output is in ";
  const std::size_t begin = message.find(before) + before.size();
  ASSERT_NE(message.find(before), std::string::npos) << message;
  EXPECT_EQ(read_text(message.substr(begin, message.find('\n') - begin)), "one\ntwo\n");
  EXPECT_THAT(message, HasSubstr("it said: two"));
}

TEST(Process, CapturedOutputIsLeftInTmpWhereTmpdirTakesNoFiles) {
  const tests::Variables tmpdir({{"TMPDIR", std::string("/proc")}});
  const std::string message = tests::error_in([] {
    run_checked({"sh", {"-c", "echo one; exit 7"}, {}, {}, {}, 0, {}});
  });
  EXPECT_THAT(message, AllOf(HasSubstr("its output is in /tmp/hplcast-sh-"), HasSubstr("it said: one")));
  const std::size_t begin = message.find("/tmp/hplcast-sh-");
  EXPECT_TRUE(std::filesystem::remove(message.substr(begin, message.find('\n', begin) - begin)));
}

TEST(Process, OfTheOutputTheLineThatTellsMostIsShown) {
  const auto line = [](const std::string& text) {
    std::istringstream in(text);
    return telling_line(in);
  };
  EXPECT_EQ(line("start\nMPI_ABORT with errorcode 3\nhplcast-x: warning: w\nhplcast-x: no memory\n----\n"),
            "hplcast-x: no memory");
  EXPECT_EQ(line("start\n  an Error \nend\n-----\n"), "an Error");
  EXPECT_EQ(line("start\nend\n-----\n\n"), "end");
  // Programs may ask for memory until there is none: that is no reason, unless they say no other.
  const std::string note = "hplcast: note: rank 0: hipMalloc of 9 GB does not fit: 9 of 8 GB";
  EXPECT_EQ(line(note + "\nhplcast: rank 0 calls hipMemset with a null pointer\n"),
            "hplcast: rank 0 calls hipMemset with a null pointer");
  EXPECT_EQ(line(note + "\nout of memory, an error\n"), note);
  EXPECT_EQ(line(note + "\nhplcast: rank 0 called MPI_Abort with code 1\n"), note);
  // What Open MPI 4.1 prints about a host that is not there, and about one that does not let us in.
  const std::string advice =
      "----\nORTE was unable to reliably start one or more daemons.\n* not finding the required libraries. Please "
      "check "
      "your PATH\n  settings, or configure OMPI with --enable-orterun-prefix-by-default\n----\n";
  EXPECT_EQ(line("ssh: Could not resolve hostname node7: Name or service not known\n" + advice),
            "ssh: Could not resolve hostname node7: Name or service not known");
  EXPECT_EQ(line("Warning: Permanently added 'node7' to the list of known hosts.\nuser@node7: Permission denied "
                 "(publickey).\n" +
                 advice),
            "user@node7: Permission denied (publickey).");
  EXPECT_EQ(line("ssh: connect to host node7 port 22: Connection refused\n" + advice),
            "ssh: connect to host node7 port 22: Connection refused");
  EXPECT_EQ(line("----\nprterun noticed that process rank 1 on node vm exited on\nsignal 9 (Killed).\n----\n"),
            "prterun noticed that process rank 1 on node vm exited on signal 9 (Killed).");
  EXPECT_EQ(line(" \n---\n"), "");
}

TEST(Process, ATimeoutAndSilenceAreSaid) {
  Command silent = {"sleep", {"10"}, {}, {}, {}, 0.05, {}};
  silent.purpose = "sleeping";
  EXPECT_THAT(tests::error_in([&] { run_checked(silent); }),
              StartsWith("sleeping failed: sleep did not end within 0.05 s\n"));
}

TEST(Process, OutputIsShownOfProgramsWithAPurposeOnly) {
  std::ostringstream shown;
  show_output(&shown);
  Command named = {"sh", {"-c", "echo one; printf two"}, {}, {}, {}, 0, {}};
  named.purpose = "counting";
  EXPECT_EQ(run(named).output, "one\ntwo");
  run({"echo", {"unseen"}, {}, {}, {}, 0, {}});
  show_output(nullptr);
  run(named);
  EXPECT_EQ(shown.str(), "==> counting <==\n+ sh -c 'echo one; printf two'\none\ntwo\n");
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
  const auto result = run({"sh", {"-c", "sleep 100 & echo $!; sleep 100"}, {}, {}, {}, 3, {}});
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
