// Sweeps as a user runs them, with the real simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "hplcast/core/errors.hpp"
#include "hplcast/study/sweep_database.hpp"
#include "tests/support/sweep_fixture.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Sweep : public testing::SweepFolder {
 protected:
  static constexpr const char* small = "fixed: {N: 300}\nfactors:\n  NB: [32, 64]\n  grid: [1x2, 2x2, 64x64]\n";
};

TEST_F(Sweep, RunsOnlyWhatIsMissingAndSkipsTheImpossible) {
  plan(small);
  const auto first = hplcast({"sweep", "plan.yaml"});
  EXPECT_EQ(first.status, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("4 runs made, 0 there already, 0 failed, 2 configurations skipped"));
  EXPECT_THAT(first.output, HasSubstr("4096 ranks"));
  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("0 runs made, 4 there already"));
  EXPECT_THAT(hplcast({"sweep", "plan.yaml", "--seed", "1,2"}).output, HasSubstr("4 runs made, 4 there already"));
  EXPECT_THAT(hplcast({"sweep", "status", "plan.db"}).output,
              HasSubstr("8 runs asked for, 8 done, 0 failed, 0 missing; 2 configurations skipped"));
  const auto csv = hplcast({"sweep", "export", "plan.db"}).output;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plan.db.work"));
}

TEST_F(Sweep, SimulatesOnceWhatTwoRunsHaveInCommon) {
  plan(
      "fixed: {N: 16000, NB: 40, grid: 2x4, DEPTH: 1, swap_threshold: 16}\nmode: fast\nwindows: 3:16\n"
      "factors: {SWAP: [mix, bin-exch, long]}\n");
  write("smpirun",
        "#!/bin/sh\n[ -e HPL.dat ] && sed -n '26s/ .*//p' HPL.dat >> \"${0%/*}/swaps\"\nexec \"" HPLCAST_SMPIRUN
        "\" \"$@\"\n");
  std::filesystem::permissions(folder_ / "smpirun", std::filesystem::perms::owner_all);
  const auto result = hplcast({"sweep", "plan.yaml", "--jobs", "1", "--smpirun", (folder_ / "smpirun").string()});
  EXPECT_THAT(result.output, HasSubstr("3 runs made"));
  std::ifstream in(folder_ / "swaps");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "1\n1\n1\n1\n1\n0\n0\n0\n0\n0\n2\n")
      << "SWAP of each window: of the mix the last one only";
}

TEST_F(Sweep, AFailedRunKeepsItsLogAndDoesNotStopTheOthers) {
  plan("fixed: {N: 300}\nfactors: {NB: [32, 64, 128]}\n");
  // Fails for one configuration only.
  write("smpirun", "#!/bin/sh\nsed -n 8p HPL.dat | grep -q '^64 ' && { echo no luck; exit 9; }\nexec \"" HPLCAST_SMPIRUN
                   "\" \"$@\"\n");
  std::filesystem::permissions(folder_ / "smpirun", std::filesystem::perms::owner_all);
  const std::string smpirun = (folder_ / "smpirun").string();
  const auto result = hplcast({"sweep", "plan.yaml", "--smpirun", smpirun});
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.output, HasSubstr("2 runs made, 0 there already, 1 failed"));
  EXPECT_THAT(result.output, StartsWith("hplcast sweep: 1 of 3 runs failed; the others are in plan.db\n"));
  const SweepDatabase database(folder_ / "plan.db", SweepDatabase::Access::read);
  ASSERT_EQ(database.failures().size(), 1U);
  const auto log = folder_ / database.failures()[0].log / "simulation.log";
  EXPECT_THAT(result.output, HasSubstr("its output is in " + log.string() + "\n"));
  std::ifstream in(log);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "no luck\n");
  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("0 runs made, 2 there already, 1 failed"));
  EXPECT_THAT(hplcast({"sweep", "plan.yaml", "--retry-failed"}).output,
              HasSubstr("1 runs made, 2 there already, 0 failed"));
  EXPECT_FALSE(std::filesystem::exists(log));
  SQLite::Database((folder_ / "plan.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE points SET factors = '{\"NB\": 3}'");
  EXPECT_THAT(hplcast({"sweep", "export", "plan.db"}).output, HasSubstr("expected an object with a text per factor"));
}

TEST_F(Sweep, RefusesTwoSweepsOnOneDatabaseOtherVersionsAndOtherFiles) {
  plan(small);
  {
    const SweepDatabase held(folder_ / "plan.db", SweepDatabase::Access::write);
    const auto second = hplcast({"sweep", "plan.yaml"});
    EXPECT_EQ(second.status, 3);
    EXPECT_THAT(second.output, HasSubstr("being written by another sweep"));
    EXPECT_EQ(hplcast({"sweep", "status", "plan.db"}).status, 0);
  }
  SQLite::Database((folder_ / "plan.db").string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("version 99"));
  write("other.db", "this is a text, and longer than a header of a database would be, which has 100 bytes ..........");
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--database", "other.db"}).status, 3);
  SQLite::Database((folder_ / "theirs.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t(x)");
  EXPECT_THAT(hplcast({"sweep", "plan.yaml", "--database", "theirs.db"}).output,
              HasSubstr("not a database of hplcast"));
}

TEST_F(Sweep, AsksBeforeAMillionRuns) {
  plan("sample: {count: 1000000, factors: {N: {min: 1, max: 1000000}}}\n");
  const auto result = hplcast({"sweep", "plan.yaml"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.output, HasSubstr("1000000 runs; give --yes"));
}

/// Starts a sweep, kills it outright after a while. The time is random, but the same in every run of the test.
void kill_sweep(const std::filesystem::path& folder, std::chrono::milliseconds after) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::chdir(folder.c_str()) != 0 || ::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(1);
    ::execl(HPLCAST_BINARY_DIR "/bin/hplcast", "hplcast", "sweep", "plan.yaml", "--jobs", "2", nullptr);
    ::_exit(1);
  }
  std::this_thread::sleep_for(after);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST_F(Sweep, KilledAgainAndAgainGivesTheDatabaseOfAnUndisturbedOne) {
  plan("fixed: {N: 400}\nseeds: [1, 2, 3]\nfactors:\n  NB: [32, 64]\n  grid: [2x4, 3x2, 64x64]\n  BCAST: [0, 3]\n");
  std::mt19937 random(5);
  std::uniform_int_distribution<int> after_ms(20, 400);
  for (int kill = 0; kill < 8; ++kill) kill_sweep(folder_, std::chrono::milliseconds(after_ms(random)));
  EXPECT_EQ(hplcast({"sweep", "plan.yaml"}).status, 0);
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--database", "calm.db"}).status, 0);
  const auto disturbed = rows("plan.db"), calm = rows("calm.db");
  EXPECT_EQ(calm.at("runs").size(), 24U);
  EXPECT_EQ(disturbed, calm);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plan.db.work"));
}

}  // namespace
}  // namespace hplcast::study
