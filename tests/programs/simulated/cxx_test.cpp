// Simulated programs in C++.
#include <gtest/gtest.h>

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
}

TEST_F(ProgramInCxx, EachRankHandlesItsOwnExceptions) {
  EXPECT_EQ(number_after(output_, "mixed up "), 0);
}

}  // namespace
}  // namespace hplcast::study
