// Simulated programs in C++.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using tests::number_after;
using tests::program_request;

class ProgramInCxx : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { output_ = run_program(program_request("cxx-smpi", 3)).output; }
  static inline std::string output_;
};

TEST_F(ProgramInCxx, ItsClocksShowSimulatedTime) {
  constexpr double reads_s = 1e-6;  // of a clock, a few of which are between
  for (const char* clock : {"steady ", "system ", "high "}) EXPECT_NEAR(number_after(output_, clock), 0.75, reads_s);
  EXPECT_NEAR(number_after(output_, "nanosleep "), 2.125, reads_s) << "for a time, and until one";
  EXPECT_EQ(number_after(output_, "rusage "), 1000);
  EXPECT_EQ(number_after(output_, "stime "), 0);
  EXPECT_EQ(number_after(output_, "memory "), 1) << "what else getrusage tells is of this machine";
  const double ticks = 1000.0 * static_cast<double>(sysconf(_SC_CLK_TCK));
  for (const char* of : {"times ", "utime "}) EXPECT_NEAR(number_after(output_, of), ticks, 1) << of;
}

TEST_F(ProgramInCxx, EachRankHandlesItsOwnExceptions) {
  EXPECT_EQ(number_after(output_, "mixed up "), 0);
}

}  // namespace
}  // namespace hplcast::study
