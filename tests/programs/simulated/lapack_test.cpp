// LAPACK of a simulated program: routines with a model take its time, those without call BLAS, which does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/process.hpp"
#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;
using tests::number_after;

ProgramRunRequest request_of(std::vector<std::string> arguments) {
  ProgramRunRequest request = tests::program_request("lapack-smpi", 1, std::move(arguments));
  auto& routines = request.cluster.program->routines;
  for (const char* name : {"dtrsm/L", "dgemv/T", "dger", "dtrmm/R", "dtrmv"})
    routines[name] = tests::exact_model({{1, 1, 0}}, {1e-9});
  return request;
}

TEST(Lapack, CallsBlasWhereItHasNoModel) {
  const ProgramRun run = run_program(request_of({"300", "2"}));
  EXPECT_EQ(run.routines.count("dgesv"), 0u);
  EXPECT_GT(run.routines.at("dgemm").calls, 0);
  EXPECT_GT(run.routines.at("dtrsm/L").calls, 0);
  EXPECT_GT(number_after(run.output, "elapsed "), 0);
}

TEST(Lapack, TakesTheTimeOfItsModelAndNoMore) {
  ProgramRunRequest request = request_of({"300", "2"});
  request.cluster.program->routines["dgesv"] = tests::exact_model({{1, 1, 1}}, {1e-9});
  request.cluster.program->routines["dgeqrf"] = tests::exact_model({{1, 1, 1}}, {2e-9});
  const ProgramRun run = run_program(request);
  EXPECT_NEAR(number_after(run.output, "elapsed "), 2 * 1e-9 * 300 * 300 * (300 + 3 * 2), 1e-6);
  EXPECT_NEAR(run.routines.at("dgeqrf").time_s, 2 * 2e-9 * 300 * 300 * 300, 1e-12);
  EXPECT_EQ(run.routines.at("dgeqrf").calls, 2) << "that which asks for the size of its memory is none";
  EXPECT_EQ(run.routines.count("dtrsm/L") == 0 || run.routines.at("dtrsm/L").calls == 0, true);
  EXPECT_THAT(run.output, HasSubstr("last pivot 300, info 0, work 1"));
  EXPECT_NEAR(run.flop(), 2 * (2.0 / 3 * 300 * 300 * 306 + 4.0 / 3 * 300 * 300 * 300), 1);
}

TEST(Lapack, CallsWhatHasAModelInsideOfWhatHasNone) {
  ProgramRunRequest request = request_of({"300", "2"});
  request.cluster.program->routines["dgetrf"] = tests::exact_model({{1, 1, 1}}, {1e-9});
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.routines.at("dgetrf").calls, 2) << "of dgesv";
  EXPECT_EQ(run.routines.at("dtrsm/L").calls, 4) << "those of dgetrs in it";
}

TEST(Lapack, ExecutedGivesTheResultsOfTheRealRunInTheSameTime) {
  ProgramRunRequest request = request_of({"200", "1"});
  request.cluster.program->routines["dgesv"] = tests::exact_model({{1, 1, 1}}, {1e-9});
  const ProgramRun modelled = run_program(request);
  request.numerics = true;
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.routines.at("dgesv").time_s, modelled.routines.at("dgesv").time_s);
  EXPECT_EQ(number_after(run.output, "elapsed "), number_after(modelled.output, "elapsed "));
  core::Command real;
  real.program = HPLCAST_BINARY_DIR "/tests/programs_lapack";
  real.arguments = {"200", "1"};
  real.environment = {{"OPENBLAS_NUM_THREADS", "1"}};
  real.timeout_s = 60;
  const std::string expected = core::run_checked(real).output;
  EXPECT_EQ(number_after(run.output, "last pivot "), number_after(expected, "last pivot "));
  // Another LAPACK rounds in another way; the matrix has a condition of some thousands.
  EXPECT_NEAR(number_after(run.output, "sum "), number_after(expected, "sum "), 1e-9 * number_after(expected, "sum "));
}

}  // namespace
}  // namespace hplcast::study
