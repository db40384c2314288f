// Sweeps on a real Slurm: controller, node and munge on this machine, started and stopped here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "hplcast/study/sweep_database.hpp"
#include "tests/support/fake_programs.hpp"
#include "tests/support/sweep_fixture.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;

core::CommandResult local_slurm(const std::string& what, const std::filesystem::path& folder) {
  core::Command command;
  command.program = HPLCAST_SOURCE_DIR "/tests/support/local_slurm";
  command.arguments = {what, folder.string()};
  command.timeout_s = 60;
  return core::run(command);
}

class SlurmSweep : public testing::SweepFolder {
 protected:
  static void SetUpTestSuite() {
    slurm_folder_ = new core::TemporaryFolder("hplcast-slurm");  // short: paths of sockets are
    const auto started = local_slurm("start", slurm_folder_->path());
    if (started.status == 0) {
      setenv("SLURM_CONF", (slurm_folder_->path() / "slurm.conf").c_str(), 1);
    } else {
      problem_ = started.timed_out ? "skipped: Slurm did not start within a minute" : started.output;
    }
  }
  static void TearDownTestSuite() {
    local_slurm("stop", slurm_folder_->path());
    delete slurm_folder_;
  }
  void SetUp() override {
    SweepFolder::SetUp();
    if (!problem_.empty()) GTEST_SKIP() << problem_;
  }

  static std::string shell(const std::string& line) {
    core::Command command;
    command.program = "/bin/sh";
    command.arguments = {"-c", line};
    return core::run(command).output;
  }

  static core::TemporaryFolder* slurm_folder_;
  static std::string problem_;
};

core::TemporaryFolder* SlurmSweep::slurm_folder_ = nullptr;
std::string SlurmSweep::problem_;

constexpr const char* eight = "fixed: {N: 300}\nseeds: [1, 2]\nfactors:\n  NB: [32, 64]\n  grid: [1x2, 2x2]\n";

TEST_F(SlurmSweep, GivesTheSameResultsBitForBit) {
  plan(eight);
  const auto there = hplcast({"sweep", "plan.yaml", "--executor", "slurm", "--jobs", "2", "--poll", "0.5"});
  EXPECT_EQ(there.status, 0) << there.output;
  EXPECT_THAT(there.output, HasSubstr("8 runs made, 0 there already, 0 failed"));
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--database", "here.db"}).status, 0);
  EXPECT_EQ(rows("plan.db"), rows("here.db"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plan.db.slurm"));
}

// Slurm takes %a in the path of a log for the number of the task.
TEST_F(SlurmSweep, TakesADatabaseWithAPercentSignInItsName) {
  plan("fixed: {N: 300, NB: 64}\nfactors:\n  grid: [1x2, 2x2]\n");
  const auto result = hplcast(
      {"sweep", "plan.yaml", "--database", "50%average.db", "--executor", "slurm", "--jobs", "2", "--poll", "0.5"});
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST_F(SlurmSweep, VerboseShowsJobsAndWhatTheirTasksRun) {
  plan("fixed: {N: 300}\nfactors:\n  NB: [32, 64]\n");
  const auto result = hplcast(
      {"sweep", "plan.yaml", "--executor", "slurm", "--jobs", "1", "--chunk", "1", "--poll", "0.5", "--verbose"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("+ sbatch --parsable"));
  EXPECT_THAT(result.output, HasSubstr("==> Slurm task-0 <==\n==> the simulation of N=300 NB="));
  EXPECT_THAT(result.output, HasSubstr("==> Slurm task-1 <=="));
}

TEST_F(SlurmSweep, StartsTasksAgainThatWereKilled) {
  plan(eight);
  std::thread killer([] {
    // The first array, once it runs.
    for (int i = 0; i < 100; ++i) {
      if (shell("squeue --noheader --states=R").find("hplcast") != std::string::npos) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    shell("scancel --signal=KILL --user=root");
  });
  const auto result =
      hplcast({"sweep", "plan.yaml", "--executor", "slurm", "--jobs", "2", "--chunk", "4", "--poll", "0.5"});
  killer.join();
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("8 runs made"));
}

TEST_F(SlurmSweep, GoesOnAfterASweepThatWasKilledAndCancelsItsJobs) {
  plan("fixed: {N: 16000, P: 4, Q: 4}\nseeds: [1, 2, 3, 4, 5, 6]\n");
  // Killed as soon as its jobs are known: nothing of what they make can have been collected.
  shell(
      "cd '" + folder_.parent_path().string() +
      "'/it*; hplcast='" HPLCAST_BINARY_DIR
      "/bin/hplcast'; \"$hplcast\" sweep plan.yaml --executor slurm --jobs 2 --poll 0.5 2>/dev/null & pid=$!; "
      "for i in $(seq 300); do \"$hplcast\" sweep status plan.db 2>/dev/null | grep -q 'slurm: ' && break; sleep 0.2; "
      "done; kill -9 $pid; wait");
  EXPECT_THAT(hplcast({"sweep", "status", "plan.db"}).output, HasSubstr("slurm: "));
  EXPECT_EQ(hplcast({"sweep", "cancel", "plan.db"}).status, 0);
  EXPECT_EQ(shell("squeue --noheader"), "");
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--executor", "slurm", "--poll", "0.5"}).status, 0);
  EXPECT_THAT(hplcast({"sweep", "status", "plan.db"}).output, HasSubstr("6 done, 0 failed, 0 missing"));
}

// Warnings about slurm.conf, which all commands of Slurm print, were taken for jobs: the sweep never ended.
TEST(SlurmWarnings, AreNoJobs) {
  if (!std::filesystem::exists(HPLCAST_BINARY_DIR "/bin/xhpl-smpi")) GTEST_SKIP() << "skipped: no xhpl-smpi was built";
  const testing::FakePrograms slurm;
  const std::string warning = "echo 'warning: slurm.conf: unknown key' >&2\n",
                    running = " \"$(dirname \"$0\")/running\"";
  slurm.script("sbatch", warning + "for last; do :; done; touch" + running +
                             "; (export SLURM_ARRAY_TASK_ID=0; sh \"$last\"; rm" + running +
                             ") >/dev/null 2>&1 & echo 7");
  slurm.script("squeue", warning + "[ ! -e" + running + " ] || echo 7_0");
  slurm.script("scancel", warning);
  std::ofstream(slurm.folder() / "plan.yaml")
      << "cluster: " HPLCAST_SOURCE_DIR "/examples/dahu-like.json\nfixed: {N: 100}\n";
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"sweep", "plan.yaml", "--executor", "slurm", "--jobs", "1", "--chunk", "9", "--poll", "0.2"};
  command.environment = {{"PATH", slurm.folder().string() + ":" + std::getenv("PATH")}};
  command.directory = slurm.folder();
  command.timeout_s = 30;
  const auto result = core::run(command);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("1 runs made"));
}

TEST(SlurmAbsent, IsSaidClearly) {
  core::TemporaryFolder folder("hplcast-noslurm");
  std::ofstream(folder.path() / "plan.yaml")
      << "cluster: " HPLCAST_SOURCE_DIR "/examples/dahu-like.json\nfixed: {N: 100}\n";
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast";
  command.arguments = {"sweep", (folder.path() / "plan.yaml").string(), "--executor", "slurm"};
  command.environment = {{"PATH", "/nowhere"}};
  const auto result = core::run(command);
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("there is no Slurm here"));
}

}  // namespace
}  // namespace hplcast::study
