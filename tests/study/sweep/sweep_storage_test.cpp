// Databases of sweeps that were killed, are links, or lie on a disk that is full.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hplcast/study/sweep_database.hpp"
#include "tests/support/killed_writer.hpp"
#include "tests/support/sweep_fixture.hpp"
#include "tests/support/text_of.hpp"

namespace hplcast::study {
namespace {

using test::text_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

core::CommandResult shell(const std::string& line, const fs::path& folder) {
  core::Command command;
  command.program = "/bin/bash";
  command.arguments = {"-c", line, HPLCAST_BINARY_DIR "/bin/hplcast"};
  command.directory = folder;
  command.timeout_s = 120;
  return core::run(command);
}

class SweepStorage : public testing::SweepFolder {
 protected:
  static constexpr const char* update = "UPDATE runs SET prediction = hex(randomblob(50000)), time_s = -1";
  static constexpr const char* small = "fixed: {N: 300}\nfactors:\n  NB: [32, 64]\nseeds: [1, 2]\n";
};

TEST_F(SweepStorage, WhatAKilledSweepHasLeftIsReadAndNotTouched) {
  plan(small);
  ASSERT_EQ(hplcast({"sweep", "plan.yaml"}).status, 0);
  const std::string csv = hplcast({"sweep", "export", "plan.db"}).output;
  const auto calm = rows("plan.db");
  test::kill_writer_of(folder_ / "plan.db", update);
  const fs::path journal = folder_ / "plan.db-journal";
  ASSERT_GT(fs::file_size(journal), 512U) << "the transaction has begun";
  const std::string database_before = text_of(folder_ / "plan.db"), journal_before = text_of(journal);

  const auto status = hplcast({"sweep", "status", "plan.db"});
  EXPECT_EQ(status.status, 0) << status.output;
  EXPECT_THAT(status.output, HasSubstr("4 done, 0 failed, 0 missing"));
  EXPECT_EQ(hplcast({"sweep", "export", "plan.db"}).output, csv);
  const auto report = hplcast({"report", "plan.db", "-o", "report.html"});
  EXPECT_EQ(report.status, 0) << report.output;
  EXPECT_EQ(text_of(folder_ / "plan.db"), database_before);
  EXPECT_EQ(text_of(journal), journal_before);

  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("0 runs made, 4 there already"));
  EXPECT_FALSE(fs::exists(journal));
  EXPECT_EQ(rows("plan.db"), calm);
}

TEST_F(SweepStorage, ASlurmThatDoesNotCancelHidesNoReason) {
  // Its tasks leave results that nobody can read; then its controller is gone.
  write("sbatch", R"(#!/bin/bash
touch "$(dirname "$0")/submitted"
for word; do case $word in --chdir=*) cd "${word#--chdir=}" ;; esac; done
for id in $(grep -ohE '"id": ?"[0-9a-f]+"' chunk-*.json | cut -d'"' -f4); do echo broken > "results/$id.json"; done
echo 1
)");
  const std::string submitted = "#!/bin/sh\n[ ! -e \"$(dirname \"$0\")/submitted\" ] || ";
  write("squeue", submitted + "echo 1\n");
  write("scancel", submitted + "{ echo no controller; exit 1; }\n");
  for (const char* name : {"sbatch", "squeue", "scancel"}) fs::permissions(folder_ / name, fs::perms::owner_all);
  plan(small);
  const auto result =
      shell("PATH=\"$PWD:$PATH\" exec \"$0\" sweep plan.yaml --executor slurm --jobs 1 --poll 0.1", folder_);
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("not JSON"));
  EXPECT_THAT(result.output, HasSubstr("cancelling the jobs of"));
}

TEST_F(SweepStorage, ThatIsEmptyIsSaidClearlyAndTakenByTheNextSweep) {
  plan(small);
  write("plan.db", "");
  for (const char* part : {"status", "export"}) {
    const auto result = hplcast({"sweep", part, "plan.db"});
    EXPECT_EQ(result.status, 3) << result.output;
    EXPECT_THAT(result.output, HasSubstr("plan.db is empty: a sweep that was killed at once"));
  }
  EXPECT_EQ(fs::file_size(folder_ / "plan.db"), 0U);
  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("4 runs made"));
  EXPECT_EQ(hplcast({"sweep", "status", "none.db"}).status, 3);
}

TEST_F(SweepStorage, ThatIsEmptyStopsNoReportOfItsFolder) {
  plan(small);
  ASSERT_EQ(hplcast({"sweep", "plan.yaml"}).status, 0);
  // As it is after the first transaction, of which only the first page had been written, has been taken back.
  SQLite::Database((folder_ / "killed.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA application_id = " + std::to_string(0x68706c63));
  write("nothing.db", "");
  const auto report = hplcast({"report", ".", "-o", "report.html"});
  EXPECT_EQ(report.status, 0) << report.output;
  EXPECT_THAT(report.output, HasSubstr("warning: "));
  EXPECT_THAT(report.output, HasSubstr("killed.db is empty: a sweep that was killed at once"));
  EXPECT_EQ(hplcast({"report", "killed.db", "-o", "none.html"}).status, 3) << "asked for by its name";
}

TEST_F(SweepStorage, IsLockedByWhateverNameItIsGiven) {
  plan(small);
  fs::create_directories(folder_ / "elsewhere");
  fs::create_symlink("../plan.db", folder_ / "elsewhere" / "link.db");
  {
    const SweepDatabase held(folder_ / "plan.db", SweepDatabase::Access::write);
    const auto second = hplcast({"sweep", "plan.yaml", "--database", "elsewhere/link.db"});
    EXPECT_EQ(second.status, 3);
    EXPECT_THAT(second.output, HasSubstr("being written by another sweep"));
  }
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--database", "elsewhere/link.db"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "elsewhere" / "link.db"));
  EXPECT_THAT(hplcast({"sweep", "plan.yaml"}).output, HasSubstr("0 runs made, 4 there already"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "elsewhere"), {}), 1) << "everything is beside the database";
}

/// Runs sweeps until nothing is full: none takes a full disk for a run that fails, and none loses what was done.
class FullDisk : public SweepStorage {
 protected:
  void expect_nothing_failed(const core::CommandResult& result, const fs::path& database) {
    EXPECT_THAT(result.status, ::testing::AnyOf(0, 3)) << result.output;
    if (result.status == 3) ++refused_;
    if (!fs::exists(database) || fs::file_size(database) == 0) return;
    const SweepDatabase left(database, SweepDatabase::Access::read);
    EXPECT_TRUE(left.failures().empty()) << left.failures()[0].message;
    EXPECT_GE(left.counts().done, done_);
    done_ = left.counts().done;
  }
  void TearDown() override {
    if (!folder_.empty()) shell("mountpoint -q disk && umount -l disk", folder_);
  }
  /// How many of these have no room for the whole database: these sweeps cannot end well.
  static int below_size_of(const fs::path& database, const std::vector<int>& kib) {
    const auto size = static_cast<int>(fs::file_size(database) / 1024);
    const auto count = static_cast<int>(std::count_if(kib.begin(), kib.end(), [&](int one) { return one < size; }));
    EXPECT_GT(count, 1) << "none of them is small";
    return count;
  }
  int refused_ = 0;
  std::size_t done_ = 0;
};

TEST_F(FullDisk, ALimitOfFileSizesIsNoFailedRun) {
  plan(small);
  // KiB: of the first files of a simulation, of its log, of the database.
  const std::vector<int> limits_kib = {0, 2, 8, 32, 64};
  for (const int kib : limits_kib) {
    const auto result = shell("ulimit -f " + std::to_string(kib) + "; exec \"$0\" sweep plan.yaml --jobs 1", folder_);
    expect_nothing_failed(result, folder_ / "plan.db");
  }
  EXPECT_EQ(hplcast({"sweep", "plan.yaml"}).status, 0);
  EXPECT_THAT(hplcast({"sweep", "status", "plan.db"}).output, HasSubstr("4 done, 0 failed, 0 missing"));
  EXPECT_GE(refused_, below_size_of(folder_ / "plan.db", limits_kib));
}

TEST_F(FullDisk, OfTasksOfSlurmIsNoFailedRun) {
  // A Slurm that runs tasks at once, with a limit of file sizes in KiB.
  write("sbatch", R"(#!/bin/bash
for word; do
  case $word in --array=*) last=${word#--array=0-} last=${last%\%*} ;; --chdir=*) cd "${word#--chdir=}" ;; esac
done
for ((i = 0; i <= last; ++i)); do (ulimit -f $TASK_KIB; SLURM_ARRAY_TASK_ID=$i sh "$word" >> task-$i.log 2>&1); done
echo 1
)");
  for (const char* name : {"squeue", "scancel"}) write(name, "#!/bin/sh\n");
  for (const char* name : {"sbatch", "squeue", "scancel"}) fs::permissions(folder_ / name, fs::perms::owner_all);
  plan(small);
  const std::string sweep = " PATH=\"$PWD:$PATH\" exec \"$0\" sweep plan.yaml --executor slurm --jobs 1 --poll 0.1";
  for (const char* kib : {"0", "1", "8"}) {  // no simulation writes all its files
    const auto result = shell(std::string("TASK_KIB=") + kib + sweep, folder_);
    expect_nothing_failed(result, folder_ / "plan.db");
    EXPECT_THAT(result.output, HasSubstr("tasks of Slurm could not write their files"));
  }
  EXPECT_EQ(refused_, 3);
  const auto result = shell("TASK_KIB=unlimited" + sweep, folder_);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(hplcast({"sweep", "status", "plan.db"}).output, HasSubstr("4 done, 0 failed, 0 missing"));
  EXPECT_FALSE(fs::exists(folder_ / "plan.db.slurm"));
}

TEST_F(FullDisk, AFullOneIsNoFailedRun) {
  const fs::path disk = folder_ / "disk";
  fs::create_directories(disk);
  if (shell("mount -t tmpfs -o size=24m tmpfs disk", folder_).status != 0)
    GTEST_SKIP() << "skipped: no right to mount a small disk";
  plan(small);
  const std::vector<int> rooms_kib = {0, 40, 100, 200, 17000};
  for (const int free_kib : rooms_kib) {
    shell("rm -f disk/filler; head -c " + std::to_string((24576 - free_kib) * 1024) + " /dev/zero > disk/filler",
          folder_);
    const auto result = hplcast({"sweep", "plan.yaml", "--database", "disk/plan.db", "--jobs", "1"});
    expect_nothing_failed(result, disk / "plan.db");
    if (result.status != 3) continue;
    EXPECT_THAT(result.output, ::testing::AnyOf(HasSubstr("No space left on device"), HasSubstr("disk")));
  }
  shell("rm -f disk/filler", folder_);
  EXPECT_EQ(hplcast({"sweep", "plan.yaml", "--database", "disk/plan.db"}).status, 0);
  EXPECT_THAT(hplcast({"sweep", "status", "disk/plan.db"}).output, HasSubstr("4 done, 0 failed, 0 missing"));
  EXPECT_GE(refused_, below_size_of(disk / "plan.db", rooms_kib));
}

}  // namespace
}  // namespace hplcast::study
