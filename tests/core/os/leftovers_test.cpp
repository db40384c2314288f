// Temporary files and folders go when their process is killed.
#include "hplcast/core/files.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "hplcast/core/process.hpp"

namespace hplcast::core {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Leftovers : public ::testing::Test {
 protected:
  /// A fork of ours that does this, says so, and waits to be killed.
  pid_t fork_that(const std::function<void()>& work) const {
    const pid_t pid = ::fork();
    if (pid != 0) {
      while (!fs::exists(folder_.path() / "ready")) std::this_thread::sleep_for(5ms);
      fs::remove(folder_.path() / "ready");
      return pid;
    }
    work();
    ::_exit(1);
  }
  void say_ready_and_wait() const {
    std::ofstream(folder_.path() / "ready").close();
    for (;;) ::pause();
  }
  static void kill(pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  long count() const { return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()); }
  bool becomes_empty() const {
    for (int i = 0; i < 2000 && count() > 0; ++i) std::this_thread::sleep_for(10ms);
    return count() == 0;
  }

  TemporaryFolder folder_{"hplcast-leftovers-test"};
};

TEST_F(Leftovers, FoldersAndHalfWrittenFilesGoWithTheirProcess) {
  const pid_t pid = fork_that([&] {
    remove_leftovers_when_we_die();
    const TemporaryFolder folder("work", folder_.path());
    write_file(folder.path() / "file", [](std::ostream& out) { out << "x"; });
    write_file(folder_.path() / "half", [&](std::ostream& out) {
      out << "half" << std::flush;
      say_ready_and_wait();
    });
  });
  EXPECT_EQ(count(), 2);
  kill(pid);
  EXPECT_TRUE(becomes_empty());
}

// The program outlives us by 0.3 s, and makes our folder again.
TEST_F(Leftovers, FoldersGoAfterTheProgramsThatMayMakeThemAgain) {
  const pid_t pid = fork_that([&] {
    remove_leftovers_when_we_die();
    const TemporaryFolder folder("work", folder_.path());
    Command command;
    command.program = "/bin/sh";
    command.arguments = {"-c", "trap 'sleep 0.3; mkdir -p \"$1\"; exit' TERM; touch \"$2\"; sleep 100 & wait", "sh",
                         (folder.path() / "again").string(), (folder_.path() / "ready").string()};
    run(command);
  });
  kill(pid);
  std::this_thread::sleep_for(1s);  // for the program
  EXPECT_TRUE(becomes_empty());
}

// Its session is what Open MPI 4 keeps; SIGTERM does not end it.
TEST_F(Leftovers, SessionsOfMpirunGoThoughItIsKilled) {
  const fs::path mpirun = folder_.path() / "mpirun";
  std::ofstream(mpirun) << "#!/bin/sh\ntrap '' TERM\nmkdir -p \"$TMPDIR/ompi.$(hostname -s).$(id -u)/pid.$$/0\"\n"
                           "touch \"$TMPDIR/ready\"\nsleep 100\n";
  fs::permissions(mpirun, fs::perms::owner_all);
  const pid_t pid = fork_that([&] {
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
    remove_leftovers_when_we_die();
    Command command;
    command.program = mpirun.string();
    run(command);
  });
  EXPECT_EQ(count(), 2) << "mpirun and its session";
  kill(pid);
  fs::remove(mpirun);
  EXPECT_TRUE(becomes_empty());
}

TEST_F(Leftovers, WhatWasFinishedStays) {
  const pid_t pid = fork_that([&] {
    remove_leftovers_when_we_die();
    { const TemporaryFolder folder("work", folder_.path()); }
    write_file(folder_.path() / "whole", [](std::ostream& out) { out << "x"; });
    say_ready_and_wait();
  });
  kill(pid);
  std::this_thread::sleep_for(300ms);  // for a keeper that would do wrong
  EXPECT_TRUE(fs::exists(folder_.path() / "whole"));
  EXPECT_EQ(count(), 1);
}

TEST_F(Leftovers, GoWithTheirScopeUnlessTheyAreNoneAnyMore) {
  const fs::path part = part_file(folder_.path() / "trace"), kept = folder_.path() / "kept";
  EXPECT_EQ(part, folder_.path() / "trace.part");
  {
    const Leftover half(part), nothing(part_file(""));
    Leftover whole(kept);
    for (const fs::path& path : {part, kept}) std::ofstream(path) << "x";
    whole.forget();
  }
  EXPECT_FALSE(fs::exists(part));
  EXPECT_TRUE(fs::exists(kept));
}

TEST_F(Leftovers, FoldersOfDeadProcessesAreRemovedByTheNextOne) {
  const pid_t pid = fork_that([&] {
    const TemporaryFolder folder("work", folder_.path());
    say_ready_and_wait();
  });
  const fs::path left = fs::directory_iterator(folder_.path())->path();
  const auto age = [&](std::chrono::minutes minutes) {
    fs::last_write_time(left, fs::file_time_type::clock::now() - minutes);
  };
  age(10min);
  { const TemporaryFolder next("work", folder_.path()); }
  EXPECT_TRUE(fs::exists(left)) << "its process lives";
  kill(pid);
  { const TemporaryFolder next("other", folder_.path()); }
  EXPECT_TRUE(fs::exists(left)) << "of another kind";
  { const TemporaryFolder next("work", folder_.path()); }
  EXPECT_FALSE(fs::exists(left));
}

}  // namespace
}  // namespace hplcast::core
