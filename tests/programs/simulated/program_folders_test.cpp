// Where a simulated program and its copies lie: blanks, file systems that execute nothing, full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/program_run.hpp"
#include "tests/programs/program_runs.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/variables.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;

TEST(FoldersOfPrograms, MayHaveBlanks) {
  ProgramRunRequest request = tests::program_request("solver-smpi", 2, {"100", "1"});
  const core::TemporaryFolder parent("hplcast-blanks");
  for (const char* name : {"two words", "words,two"}) {  // SimGrid divides its options at commas, too
    const std::string folder = (parent.path() / name).string();
    std::filesystem::create_directories(folder);
    const tests::Variables tmpdir({{"TMPDIR", folder}});
    request.fast = false;
    EXPECT_EQ(tests::error_in([&] { run_program(request); }), "");
    request.keep = folder + "/kept here";
    request.fast = true;
    EXPECT_EQ(tests::error_in([&] { run_program(request); }), "");
    request.keep.clear();
  }
}

TEST(FoldersOfPrograms, MustLetProgramsBeExecuted) {
  const core::TemporaryFolder folder("hplcast-noexec");
  const char* const place = folder.path().c_str();
  constexpr int may_not_mount = 77;
  const pid_t child = ::fork();  // with mounts of its own: in a chroot /proc/self/exe is another path behind them
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", place, "tmpfs", MS_NOEXEC, nullptr) != 0)
      ::_exit(may_not_mount);
    const tests::Variables tmpdir({{"TMPDIR", folder.path().string()}});
    const std::string error = tests::error_in([] {
      run_program(tests::program_request("solver-smpi", 1, {"100", "1"}));
    });
    ::_exit(error.find("is mounted with `noexec`") == std::string::npos ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == may_not_mount) GTEST_SKIP() << "skipped: only root may mount";
  EXPECT_EQ(status, 0);
}

TEST(FoldersOfPrograms, AreToldOfWhereTheDiskIsFull) {
  const core::TemporaryFolder folder("hplcast-full");
  ProgramRunRequest request = tests::program_request("solver-smpi", 1, {"100", "1"});
  request.smpirun = folder.path() / "smpirun";
  core::write_file(request.smpirun, [](std::ostream& out) {
    out << "#!/bin/sh\necho 'cannot copy: No space left on device'; kill -ABRT $$\n";
  });
  std::filesystem::permissions(request.smpirun, std::filesystem::perms::owner_all);
  EXPECT_THROW(run_program(request), core::StorageError);
  EXPECT_THAT(tests::error_in([&] { run_program(request); }),
              HasSubstr("could not write its files: cannot copy: No space left on device"));
}

}  // namespace
}  // namespace hplcast::study
