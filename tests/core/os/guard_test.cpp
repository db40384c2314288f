// Programs that core::run() has started end with us, in whatever way we end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::core {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Whether a process runs: a zombie that nobody has reaped yet does not.
bool runs(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  stat >> number >> name >> state;
  return stat && state != "Z";
}

bool becomes_true(const std::function<bool()>& condition, std::chrono::milliseconds within) {
  for (const auto end = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return condition();
}

/// A number that a program writes into a file; -1 if it does not come.
pid_t number_in(const fs::path& file) {
  pid_t number = -1;
  becomes_true([&] { return static_cast<bool>(std::ifstream(file) >> number); }, 5s);
  return number;
}

/// Guards take 2 s until they kill what ignores SIGTERM; the rest is for a busy machine.
constexpr auto end_of_a_guard = 20s;

class Guard : public ::testing::Test {
 protected:
  /// A process of ours that runs this in /bin/sh; `$0` is the folder.
  pid_t fork_that_runs(const std::string& script) const {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    catch_interrupts();
    Command command;
    command.program = "sh";
    command.arguments = {"-c", script, folder_.path().string()};
    try {
      run(command);
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  fs::path file(const char* name) const { return folder_.path() / name; }

  TemporaryFolder folder_{"hplcast-guard-test"};
};

/// A group of its own, as mpirun gives its ranks; and deaf to SIGTERM. `exec`: the number is that of sleep.
constexpr const char* stubborn = "setsid sh -c 'trap \"\" TERM; echo $$ >\"$0\"/own_group; exec sleep 100' \"$0\" & ";
constexpr const char* plain = "sleep 100 & echo $! >\"$0\"/background; echo $$ >\"$0\"/itself; sleep 100";

TEST_F(Guard, EndsAllDescendantsWhenWeAreKilled) {
  for (const int signal : {SIGKILL, SIGINT}) {
    for (const char* name : {"own_group", "background", "itself"}) fs::remove(file(name));
    const pid_t ours = fork_that_runs(std::string(stubborn) + plain);
    const pid_t own_group = number_in(file("own_group")), background = number_in(file("background")),
                itself = number_in(file("itself"));
    ASSERT_TRUE(runs(own_group) && runs(background) && runs(itself));
    ::kill(ours, signal);
    int status = 0;
    ::waitpid(ours, &status, 0);
    EXPECT_TRUE(becomes_true([&] { return !runs(own_group) && !runs(background) && !runs(itself); }, end_of_a_guard))
        << "signal " << signal;
  }
}

TEST_F(Guard, LetsAProgramThatEndsByItselfLeaveADaemon) {
  const auto result = run({"sh", {"-c", "setsid sleep 100 >/dev/null 2>&1 & echo $!"}, {}, {}, {}, 0, {}});
  const pid_t daemon = std::stoi(result.output);
  EXPECT_TRUE(runs(daemon));
  ::kill(daemon, SIGKILL);
}

TEST_F(Guard, ThatIsKilledTakesTheProgramWithIt) {
  // Not before the guard has told us of its program, from when on we know whom to end in its place.
  const pid_t ours = fork_that_runs(std::string("sleep 0.5; ") + plain);
  const pid_t itself = number_in(file("itself")), background = number_in(file("background"));
  std::ifstream stat("/proc/" + std::to_string(itself) + "/stat");
  std::string pid, name, state;
  pid_t guard = 0;
  stat >> pid >> name >> state >> guard;
  ASSERT_GT(guard, 1);
  ASSERT_NE(guard, ours);
  ::kill(guard, SIGKILL);
  int status = 0;
  ::waitpid(ours, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "run() gives the status of a killed program";
  EXPECT_TRUE(becomes_true([&] { return !runs(itself) && !runs(background); }, end_of_a_guard));
}

TEST_F(Guard, DoesNotHoldOurOutputNorOurLocks) {
  // Who reads our output to its end does not wait for the guard, and who waits for our lock does not either.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t ours = ::fork();
  if (ours == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    run({"sh", {"-c", "trap '' TERM; touch \"$0\"/started; sleep 100", folder_.path().string()}, {}, {}, {}, 0, {}});
    ::_exit(0);
  }
  ::close(ends[1]);
  ASSERT_TRUE(becomes_true([&] { return fs::exists(file("started")); }, 5s));
  ::kill(ours, SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s) << "as long as a program that ignores SIGTERM lasts";
  ::close(ends[0]);
  ::waitpid(ours, nullptr, 0);
}

TEST_F(Guard, RunsManyProgramsAtATime) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 10; ++j) {
        const auto result = run({"sh", {"-c", "exit " + std::to_string(i)}, {}, {}, {}, 0, {}});
        if (result.status == i) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
}

TEST_F(Guard, StopsOneOfSeveralProgramsAtOnce) {
  // The end of a pipe that the other guard inherited would let this one wait until the other ends.
  std::atomic<bool> other_ended = false;
  std::thread other([&] {
    run({"sleep", {"2"}, {}, {}, {}, 0, {}});
    other_ended = true;
  });
  EXPECT_TRUE(run({"sleep", {"100"}, {}, {}, {}, 0.2, {}}).timed_out);
  EXPECT_FALSE(other_ended);
  other.join();
}

}  // namespace
}  // namespace hplcast::core
