#include "study/run/local_machine.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace hplcast::study {
namespace {

TEST(LocalMachine, HasCoresAndMemory) {
  const LocalMachine machine = local_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 0.0);
  EXPECT_GT(machine.available_bytes, 0.0);
  EXPECT_LE(machine.available_bytes, machine.memory_bytes);
}

TEST(TreePss, CountsMemoryOfChildrenAndSharedPagesOnce) {
  constexpr std::size_t megabytes_64 = 64U << 20U;
  const std::vector<char> shared(megabytes_64, 1);
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<char> own(megabytes_64, 2);
    char signal = own[7];
    if (write(ready[1], &signal, 1) != 1 || read(done[0], &signal, 1) != 1) _exit(1);
    _exit(0);
  }
  char signal = 0;
  ASSERT_EQ(read(ready[0], &signal, 1), 1);
  const double pss = tree_pss_bytes(getpid());
  ASSERT_EQ(write(done[1], &signal, 1), 1);
  waitpid(child, nullptr, 0);
  // 64 MB shared by both and 64 MB of the child: 128 MB, where resident set sizes would sum to 192 MB. The rest of a
  // test program is a few MB (more under a sanitizer, which has its own shadow memory).
  EXPECT_GT(pss, 2.0 * megabytes_64);
  EXPECT_LT(pss, 2.6 * megabytes_64);
}

TEST(TreePss, AProcessThatIsGoneCountsNothing) {
  EXPECT_EQ(tree_pss_bytes(999999999), 0.0);
}

TEST(PeakMemory, KeepsTheLargestSample) {
  PeakMemory memory;
  memory.sample(getpid());
  EXPECT_GT(memory.peak_bytes(), 0.0);
}

TEST(OwnProgram, IsNamedByTheVariableOrStandsNextToTheProgram) {
  setenv("HPLCAST_TEST_PROGRAM", "/bin/sh", 1);
  EXPECT_EQ(own_program("nothing", "HPLCAST_TEST_PROGRAM"), "/bin/sh");
  unsetenv("HPLCAST_TEST_PROGRAM");
  EXPECT_THROW(own_program("nothing", "HPLCAST_TEST_PROGRAM"), core::Error);
  EXPECT_EQ(own_program("study_run_test", "HPLCAST_TEST_PROGRAM").filename(), "study_run_test");
}

}  // namespace
}  // namespace hplcast::study
