// Programs whose results depend on what is computed: executed in a simulation they are those of a real run; the time
// does not depend on the contents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/simulation.hpp"
#include "tests/programs/program_runs.hpp"

namespace hplcast::study {
namespace {

using testing::HasSubstr;
using tests::number_after;

/// With routines that the program calls.
ProgramRunRequest request_of(int ranks, std::vector<std::string> arguments) {
  ProgramRunRequest request = tests::program_request("numerics-smpi", ranks, std::move(arguments));
  auto& routines = request.cluster.program->routines;
  routines["dger"] = tests::exact_model({{1, 1, 0}}, {1e-9});
  routines["dswap"] = tests::exact_model({{0, 1, 0}}, {2e-9});
  routines["dtrsv"] = tests::exact_model({{1, 1, 0}}, {1e-9});
  request.cluster.program->regions["fill"] = {core::RegionMode::skip, 1, {}, 1, 0.001};
  return request;
}

/// What it prints after its time.
std::string results_in(const std::string& output) {
  const std::size_t at = output.find("info ");
  return at == std::string::npos ? output : output.substr(at);
}

std::string real_results(int ranks, const std::vector<std::string>& arguments) {
  core::MpiLaunch launch;
  launch.ranks = ranks;
  launch.oversubscribe = true;
  launch.bind = false;
  core::Command command = core::mpirun_command(launch, HPLCAST_BINARY_DIR "/tests/programs_numerics");
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.timeout_s = 60;
  return results_in(core::run_checked(command).output);
}

TEST(Numerics, ExecutedGiveTheResultsOfTheRealRunToTheLastDigit) {
  for (const int ranks : {1, 2}) {
    ProgramRunRequest request = request_of(ranks, {"120"});
    request.numerics = true;
    const std::string simulated = results_in(run_program(request).output);
    EXPECT_EQ(simulated, real_results(ranks, {"120"}))
        << ranks << " ranks: pivots, residual, solution; Fortran and CBLAS";
    EXPECT_LT(number_after(simulated, "residual "), 1e-9);
    request.numerics = false;
    EXPECT_NE(results_in(run_program(request).output), simulated);
  }
}

TEST(Numerics, TakeTheTimeThatTheyTakeWhenTheyAreNotExecuted) {
  ProgramRunRequest request = request_of(1, {"120"});
  const ProgramRun modelled = run_program(request);
  request.numerics = true;
  const ProgramRun executed = run_program(request);
  EXPECT_EQ(executed.time_s, modelled.time_s);
  for (const auto& [name, use] : modelled.routines) EXPECT_EQ(executed.routines.at(name).calls, use.calls) << name;
  EXPECT_EQ(executed.regions.at("fill").time_s, 0.002) << "skipped by the models, and executed";
}

TEST(Numerics, TakeNoTimeInsideOfARegionThatHasItsOwn) {
  ProgramRunRequest request = tests::program_request("odd-smpi", 1, {"nested"});
  request.cluster.program->routines["daxpy"] = tests::exact_model({{0, 1, 0}}, {1e-2});
  request.cluster.program->regions["outer"] = {core::RegionMode::skip, 1, {}, 1, 0.5};
  request.cluster.program->regions["inner"] = {core::RegionMode::skip, 1, {}, 1, 0.25};
  const ProgramRun modelled = run_program(request);
  EXPECT_THAT(modelled.output, HasSubstr("result 0,"));
  request.numerics = true;
  const ProgramRun executed = run_program(request);
  EXPECT_THAT(executed.output, HasSubstr("result 42,"));
  EXPECT_EQ(executed.time_s, modelled.time_s);
  EXPECT_EQ(executed.regions.count("inner"), 0u);
  EXPECT_THAT(doubts(executed, request.cluster),
              testing::ElementsAre(HasSubstr("11 of 12 observed routines and regions are not called here")))
      << "and nothing about those inside of the region";
}

TEST(Numerics, TellContentsThatStopAnAlgorithmAsTheRealRunDoes) {
  ProgramRunRequest request = request_of(1, {"20", "ones"});
  request.numerics = true;
  EXPECT_THAT(run_program(request).output, HasSubstr("info 2 "));
  EXPECT_THAT(real_results(1, {"20", "ones"}), HasSubstr("info 2 "));
}

TEST(Numerics, HaveNoSharedMemoryAndNeedABlas) {
  ProgramRunRequest request = request_of(1, {"20"});
  request.numerics = true;
  request.share_above_bytes = 1e6;
  EXPECT_THROW(run_program(request), core::UsageError);
  request.share_above_bytes = 0;
  for (const char* path : {"/nowhere/libblas.so", "nowhere/libblas.so"}) {
    setenv("HPLCAST_REAL_BLAS", path, 1);
    try {
      run_program(request);
      ADD_FAILURE() << "expected an error";
    } catch (const core::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("expected " + std::filesystem::absolute(path).string()));
    }
  }
  unsetenv("HPLCAST_REAL_BLAS");
}

TEST(Contents, ChangeTheTimeByLessThanAPercent) {
  // What decides is where pivots are and whether an algorithm stops, not the numbers.
  const auto elapsed_s = [](const std::string& contents, double share_above_bytes) {
    ProgramRunRequest request = request_of(2, {"120", contents});
    request.cluster.program->regions["fill"] = {core::RegionMode::factor, 1e-6, {}, 1, 0};  // executed, in no time
    request.share_above_bytes = share_above_bytes;
    return number_after(run_program(request).output, "elapsed ");
  };
  const double random_s = elapsed_s("random", 0);
  EXPECT_GT(random_s, 1e-4);
  EXPECT_NEAR(elapsed_s("nan", 0), random_s, 0.01 * random_s);
  EXPECT_NEAR(elapsed_s("random", 1e5), random_s, 0.01 * random_s);
}

}  // namespace
}  // namespace hplcast::study
