// Programs of BLAS and MPI on the simulator: the time that they measure is what the models say.
#include "hplcast/study/program_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "tests/programs/program_runs.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using tests::number_after;
using tests::solver_s;

ProgramRunRequest request_of(const std::string& program, int ranks, std::vector<std::string> arguments = {}) {
  return tests::program_request(program, ranks, std::move(arguments));
}

std::string message_of(const ProgramRunRequest& request) {
  try {
    run_program(request);
  } catch (const core::Error& error) {
    return error.what();
  }
  return "it ended well";
}

TEST(ProgramRun, TakesTheSumOfTheModelsOfItsRoutines) {
  const ProgramRun run = run_program(request_of("solver-smpi", 1, {"100", "3"}));
  // Beside the routines only a read of the clock (30 ns or less) and barriers of one rank.
  EXPECT_NEAR(number_after(run.output, "elapsed "), 3 * solver_s(100), 1e-6);
  EXPECT_NEAR(run.routines_s(), 3 * solver_s(100) + 1e-9 * 100 + 1e-9 * 100, 1e-12);
  EXPECT_EQ(run.routines.at("dgemm").calls, 3);
  EXPECT_EQ(run.routines.at("dgemm").flop, 3 * 2 * 100 * 50 * 100.0);
  EXPECT_EQ(run.routines.at("dtrsm/R").calls, 3);
  EXPECT_EQ(run.routines.at("dgemv/N").calls, 3) << "CBLAS by rows, transposed";
  EXPECT_EQ(run.routines.at("dcopy/strided").calls, 3);
  EXPECT_THAT(doubts(run, tests::program_cluster()), ElementsAre(HasSubstr("region fill"))) << "it was not observed";
}

// A program that measures loops of its own prints nonsense, and that is told; what it does not measure is nobody's
// concern.
TEST(ProgramRun, TellsWhenTheProgramTimesCodeThatTakesNoTime) {
  const ProgramRunRequest request = request_of("odd-smpi", 2, {"timed-loop"});
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.untimed_intervals, 2) << "on each rank";
  EXPECT_GT(run.untimed_s, 1e-4);
  EXPECT_THAT(doubts(run, request.cluster), Contains(HasSubstr("timed code that takes no time here, 2 times")));
  EXPECT_LT(run_program(request_of("odd-smpi", 2, {"loop"})).untimed_s, 1e-4);
  EXPECT_LT(run_program(request_of("odd-smpi", 1, {"tick"})).untimed_s, 1e-4);
  EXPECT_LT(run_program(request_of("solver-smpi", 2, {"100", "3"})).untimed_s, 1e-4);
  ProgramRunRequest benched = request;
  benched.rest = RestMode::bench;
  EXPECT_LT(run_program(benched).untimed_s, 1e-4);
}

// ScaLAPACK's QR reduces over rows of one process.
TEST(ProgramRun, ReducesOnCommunicatorsOfOneRank) {
  for (const char* collectives : {"ompi", "mpich", "impi", "mvapich2"}) {
    ProgramRunRequest request = request_of("odd-smpi", 2, {"alone"});
    request.collectives = collectives;
    EXPECT_THAT(run_program(request).output, AllOf(HasSubstr("alone 4 4 4 4"), HasSubstr("long 5 5 5"))) << collectives;
  }
}

// smpirun and SimGrid take such words for their own, and a shell takes words apart.
TEST(ProgramRun, GivesTheProgramItsArgumentsAsTheyAre) {
  const std::vector<std::string> words = {"--help",
                                          "--cfg=smpi/np:7",
                                          "--log=root.thresh:debug",
                                          "--version",
                                          "--",
                                          "--help-cfg",
                                          "-np",
                                          "two words",
                                          "",
                                          "*",
                                          "'$(date)\"",
                                          "%41",
                                          "hplcast-word=%41",
                                          "caf\xC3\xA9",
                                          "N=5"};
  std::vector<std::string> arguments = {"arguments"};
  std::string expected;
  for (const std::string& word : words) {
    arguments.push_back(word);
    expected += "1 of " + std::to_string(arguments.size()) + ": [" + word + "]\n";
  }
  const ProgramRun run = run_program(request_of("odd-smpi", 2, arguments));
  std::string printed;  // by one of the ranks
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind("1 of ", 0) == 0) printed += line + "\n";
  EXPECT_EQ(printed, expected);
  EXPECT_EQ(run.ranks, 2);
}

TEST(ProgramRun, EstimatesThePanelsThatItLeavesOut) {
  ProgramRunRequest request = request_of("odd-smpi", 2, {"panels"});
  const ProgramRun all = run_program(request);
  EXPECT_FALSE(all.sampling);
  EXPECT_EQ(all.simulated_s, all.time_s);
  for (const char* rule : {"4:8", "auto"}) {
    request.windows = WindowRule::from(rule);
    const ProgramRun run = run_program(request);
    ASSERT_TRUE(run.sampling) << rule;
    constexpr double of_a_quadratic = 1e-3;  // exact but for the messages of the barriers
    EXPECT_NEAR(run.time_s / all.time_s, 1, of_a_quadratic) << rule;
    EXPECT_LT(run.simulated_s, 0.6 * all.time_s) << rule;
    EXPECT_NEAR(run.routines.at("dcopy").calls / all.routines.at("dcopy").calls, run.sampling->share, 1e-9) << rule;
  }
}

TEST(ProgramRun, RefusesWindowsWithoutMarksThatFit) {
  const auto refusal = [](const char* what) {
    ProgramRunRequest request = request_of("odd-smpi", 2, {what});
    request.windows = WindowRule::from("4:8");
    return tests::error_in([&] { run_program(request); });
  };
  EXPECT_THAT(refusal("alone"), HasSubstr("the program marks no panels; expected a call of hplcast_panel()"));
  EXPECT_THAT(refusal("panels-skip"), HasSubstr("marks panel 9 of 400 in rounds of 4; expected 8 of 400"));
  EXPECT_THAT(refusal("panels-back"), HasSubstr("marks panel 5 of 400 in rounds of 4; expected 8 of 400"));
  EXPECT_THAT(refusal("panels-differ"), HasSubstr("of 400 in rounds of 5; expected 0 of 400 in rounds of 4"));
  EXPECT_THAT(refusal("panels-more"), HasSubstr("expected none behind the last one"));
  EXPECT_THAT(refusal("panels-less"), HasSubstr("rank 0 marked 8 of the"));
  ProgramRunRequest request = request_of("odd-smpi", 2, {"panels"});
  request.windows = WindowRule::from("300:8");
  EXPECT_THAT(tests::error_in([&] { run_program(request); }),
              HasSubstr("for the 400 panels of the program, in rounds of 4"));
  request.numerics = true;
  EXPECT_THAT(tests::error_in([&] { check(request); }), HasSubstr("--windows beside --numerics run"));
}

TEST(ProgramRun, ExecutesCopiesAndDrawsIndices) {
  const ProgramRun run = run_program(request_of("solver-smpi", 4, {"64", "1"}));
  EXPECT_THAT(run.output, HasSubstr("index in range 1, copied on 4 ranks, dot 0"));
  EXPECT_GT(run.messages, 0);
}

TEST(ProgramRun, CountsMessagesOfAllSizes) {
  const ProgramRun none = run_program(request_of("odd-smpi", 2, {"nothing"}));
  const ProgramRun run = run_program(request_of("odd-smpi", 2, {"messages"}));
  EXPECT_EQ(run.messages - none.messages, 7);
  EXPECT_EQ(run.message_bytes - none.message_bytes, 1111111);
}

TEST(ProgramRun, KeepsRanksApartThatMeetAtABarrier) {
  const double one_s = number_after(run_program(request_of("solver-smpi", 1, {"100", "2"})).output, "elapsed ");
  const double all_s = number_after(run_program(request_of("solver-smpi", 8, {"100", "2"})).output, "elapsed ");
  EXPECT_GT(all_s, one_s);
  EXPECT_LT(all_s, one_s + 1e-3) << "all ranks work at the same time; a barrier takes some us";
}

TEST(ProgramRun, ShowsSimulatedTimeOnAllClocksOfFortran) {
  const ProgramRun run = run_program(request_of("clocks-smpi", 2));
  const double expected_s = 10 * (3e-9 * 200 * 200 + 1e-6 * 200);
  EXPECT_NEAR(number_after(run.output, "elapsed "), expected_s, 1e-6);
  EXPECT_NEAR(number_after(run.output, "ticks "), expected_s, 1e-6);
  EXPECT_NEAR(number_after(run.output, "cpu "), expected_s, 1e-6);
  EXPECT_NEAR(number_after(run.output, "slept "), 1500, 1e-3);
  EXPECT_NEAR(number_after(run.output, "etime "), 1500, 0.2);
  for (const char* since : {"dtime ", "own "}) EXPECT_NEAR(number_after(run.output, since), 90000, 0.2) << since;
  EXPECT_EQ(number_after(run.output, "system "), 0);
  for (const char* all : {"second ", "unix "}) EXPECT_NEAR(number_after(run.output, all), 91500, 1) << all;
  EXPECT_NEAR(number_after(run.output, "secnds "), 91500 - 86400, 1) << "since midnight";
  EXPECT_NEAR(number_after(run.output, "since yesterday "), 91500 - 86000, 1);
  EXPECT_THAT(run.output, HasSubstr("date 19700102 at 012500.00"));  // simulated time begins with 1970
  EXPECT_THAT(run.output, HasSubstr("is  1970    1    2    0    1   25    0"));
  EXPECT_THAT(run.output, HasSubstr("by columns  1970    1    2    0    1   25    0"));
  EXPECT_EQ(number_after(run.output, "between them "), -1);
  EXPECT_EQ(number_after(run.output, "total per rank "), 1)
      << "dnrm2 is 1, sdot and zdotc are 0, by gfortran's convention";
}

TEST(ProgramRun, WarnsOnceOfScansByOperationsThatDoNotCommute) {
  const std::string told = "MPI_Scan by an operation that does not commute: its results are wrong here";
  for (const std::string who : {"all", "without-0"}) {
    const std::string warned = run_program(request_of("odd-smpi", 4, {"scan", who})).output;
    EXPECT_THAT(warned, HasSubstr(told)) << who;
    EXPECT_EQ(warned.find("not commute"), warned.rfind("not commute")) << warned;
  }
  EXPECT_THAT(run_program(request_of("odd-smpi", 4, {"scan", "commutes"})).output, Not(HasSubstr("not commute")));
}

TEST(ProgramRun, RepeatsItselfForASeedToTheLastDigit) {
  ProgramRunRequest request = request_of("solver-smpi", 2, {"100", "5"});
  const auto mu = core::Polynomial::make({{1, 1, 1}}, {1e-10});
  request.cluster.program->routines["dgemm"] = core::KernelModel::make(
      "M1", core::PiecewiseLaw(core::DurationLaw::make(mu, core::scaled(mu, 0.1), core::NoiseFamily::half_normal)));
  const double first_s = run_program(request).time_s;
  EXPECT_EQ(run_program(request).time_s, first_s);
  request.seed = 2;
  EXPECT_NE(run_program(request).time_s, first_s);
  request.noise = false;
  EXPECT_NEAR(number_after(run_program(request).output, "elapsed "), 5 * solver_s(100), 1e-3);
}

TEST(ProgramRun, CountsCallsWithoutAModelAndTellsThem) {
  const ProgramRunRequest request = request_of("odd-smpi", 1, {"unmodelled"});
  const ProgramRun run = run_program(request);
  EXPECT_FALSE(run.routines.at("daxpy").has_model);
  EXPECT_THAT(
      doubts(run, request.cluster),
      ElementsAre(HasSubstr("no time was taken by 100 % of all calls of routines: daxpy (1 call, 100 %), because"),
                  HasSubstr("9 of 9 observed routines and regions are not called here (dcopy, dcopy/strided"),
                  HasSubstr("nothing but messages took time")));
}

// A few calls that miss do not look like another program, but are told; names that differ are no error.
TEST(ProgramRun, TellsWhichProgramTheModelsAreOf) {
  ProgramRunRequest request = request_of("solver-smpi", 1, {"100", "3"});
  request.cluster.program->command = "/x/other";
  request.cluster.program->routines.erase("dcopy");
  request.cluster.program->routines.erase("dcopy/strided");
  const ProgramRun run = run_program(request);
  // In each of 3 repetitions dgemm, dtrsm, dgemv and dcopy are called, idamax and ddot once at the end.
  EXPECT_THAT(doubts(run, request.cluster),
              ElementsAre(AllOf(HasSubstr("21.4 % of all calls of routines: dcopy/strided (3 calls, 21.4 %), because"),
                                HasSubstr("the models are of other, this is programs_solver-smpi")),
                          AllOf(HasSubstr("region fill"), HasSubstr("the models are of other"))));
  EXPECT_THAT(notes(run, request.cluster), ElementsAre("the models are of other, this is programs_solver-smpi"));
  request.cluster.program->command = "/x/solver";
  EXPECT_THAT(notes(run, request.cluster), IsEmpty()) << "compiled once more, by hplcast-cc";
}

TEST(ProgramRun, TakesTheModelOfHplsKernelWhereTheProgramHasNone) {
  ProgramRunRequest request = request_of("odd-smpi", 1, {"unmodelled"});
  request.cluster.kernels["daxpy"] = tests::exact_model({{0, 1, 0}}, {1e-3});
  const ProgramRun run = run_program(request);
  EXPECT_TRUE(run.routines.at("daxpy").has_model);
  EXPECT_NEAR(run.routines.at("daxpy").time_s, 0.01, 1e-12);
  EXPECT_THAT(notes(run, request.cluster), ElementsAre(HasSubstr("daxpy (1 call, 100 %)")));
}

// Elements whole pages apart have a model of their own, else that of others that are apart.
TEST(ProgramRun, TellsStridesApart) {
  ProgramRunRequest request = request_of("odd-smpi", 1, {"strides"});
  auto& models = request.cluster.program->routines;
  models["dcopy/strided"] = tests::exact_model({{0, 1, 0}}, {1e-8});
  models["dcopy/aliased"] = tests::exact_model({{0, 1, 0}}, {5e-8});
  const ProgramRun run = run_program(request);
  for (const auto& [name, calls, time_s] :
       {std::tuple("dcopy/strided", 1, 1e-7), {"dcopy/half-aliased", 1, 1e-7}, {"dcopy/aliased", 2, 1e-6}}) {
    EXPECT_EQ(run.routines.at(name).calls, calls) << name;
    EXPECT_NEAR(run.routines.at(name).time_s, time_s, 1e-15) << name;
  }
  EXPECT_EQ(run.routines.at("scopy/half-aliased").calls, 1) << "512 of four bytes";
  EXPECT_FALSE(run.routines.at("scopy/half-aliased").has_model);
  EXPECT_THAT(notes(run, request.cluster), testing::Not(Contains(HasSubstr("HPL's kernels"))));
}

// Packing and making types take time if the observed program did so; sends and receives of types with gaps pack, too,
// unless they are between blocks of a cache line or more.
TEST(ProgramRun, SpendsTheTimeOfLocalFunctionsOfMpi) {
  ProgramRunRequest request = request_of("odd-smpi", 2, {"types"});
  const ProgramRun without = run_program(request);
  EXPECT_EQ(without.routines.count("MPI_Pack"), 0U);
  auto& models = request.cluster.program->routines;
  models["MPI_Type_vector"] = tests::exact_model({{0, 0, 0}}, {1e-3});
  models["MPI_Pack"] = tests::exact_model({{0, 1, 0}}, {1e-5});
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.routines.at("MPI_Type_vector").calls, 4);
  EXPECT_NEAR(run.routines.at("MPI_Type_vector").time_s, 4e-3, 1e-12);
  EXPECT_EQ(run.routines.at("MPI_Pack/strided").calls, 3) << "each rank by hand, and the send";
  EXPECT_NEAR(run.routines.at("MPI_Pack/strided").time_s, 3 * 80e-5, 1e-12) << "by bytes, if no model knows blocks";
  EXPECT_EQ(run.routines.at("MPI_Unpack/strided").calls, 1) << "as MPI_Pack";
  EXPECT_THAT(notes(run, request.cluster), testing::Not(Contains(HasSubstr("HPL's kernels"))));
  // One after the other: both types, both packs of the sender, and the receiver's unpacking.
  EXPECT_NEAR(run.time_s - without.time_s, 2e-3 + 3 * 80e-5, 1e-5);
  models["MPI_Pack/strided"] = tests::exact_model({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {1e-6, 1e-4, 1e-5});
  const ProgramRun by_blocks = run_program(request);
  EXPECT_NEAR(by_blocks.routines.at("MPI_Pack/strided").time_s, 3 * (8e-6 + 10e-4 + 16e-5), 1e-12)
      << "10 blocks of 8 bytes, 16 bytes apart";
  EXPECT_NEAR(by_blocks.routines.at("MPI_Unpack/strided").time_s, 8e-6 + 10e-4 + 16e-5, 1e-12);
}

TEST(ProgramRun, PacksAndUnpacksWhatRequestsSendAndReceive) {
  ProgramRunRequest request = request_of("odd-smpi", 2, {"requests-of-types"});
  const double without_s = run_program(request).time_s;
  request.cluster.program->routines["MPI_Pack"] = tests::exact_model({{0, 1, 0}}, {1e-5});
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.routines.at("MPI_Pack/strided").calls, 6) << "by rank 0";
  EXPECT_EQ(run.routines.at("MPI_Unpack/strided").calls, 6)
      << "by rank 1, one for each of MPI_Wait, MPI_Test, MPI_Waitany";
  // The receiver unpacks each message while the next one is packed, and the last one afterwards.
  EXPECT_NEAR(run.time_s - without_s, 7 * 80e-5, 2e-5);
}

TEST(ProgramRun, CountsCallsOutsideOfTheObservedSizes) {
  ProgramRunRequest request = request_of("solver-smpi", 1, {"100", "2"});
  request.cluster.program->routines["dgemm"] = core::KernelModel::make(
      "M1", tests::exact_model({{1, 1, 1}}, {1e-10}).cluster_law(), {}, core::ShapeRange{{1, 1, 1}, {99, 99, 99}});
  const ProgramRun run = run_program(request);
  EXPECT_EQ(run.routines.at("dgemm").outside_range, 2);
  EXPECT_THAT(doubts(run, request.cluster), testing::Contains(HasSubstr("dgemm: 100 % of its calls")));
}

TEST(ProgramRun, EndsLoopsThatWaitForATick) {
  EXPECT_GT(run_program(request_of("odd-smpi", 1, {"tick"})).time_s, 0);
}

TEST(ProgramRun, SleepsInSimulatedTime) {
  const ProgramRun run = run_program(request_of("odd-smpi", 1, {"sleep"}));
  EXPECT_NEAR(number_after(run.output, "slept until "), 1000.5, 1e-5);
  EXPECT_LT(run.wall_s, 100);
  // select and poll of no files, a second each.
  EXPECT_NEAR(number_after(run_program(request_of("choices-smpi", 1, {"sleeps"})).output, "slept until "), 2, 1e-5);
}

// What programs of MPI and OpenMP ask for, and end without.
TEST(ProgramRun, LetsThreadsCompute) {
  EXPECT_THAT(run_program(request_of("choices-smpi", 1)).output, HasSubstr("threads 0 0\n"));
}

TEST(ProgramRun, BenchesTheRestIfAsked) {
  ProgramRunRequest request = request_of("odd-smpi", 1, {"work"});
  EXPECT_LT(number_after(run_program(request).output, "time "), 1e-3);
  request.rest = RestMode::bench;
  const ProgramRun run = run_program(request);
  // 3e7 divisions take from 10 ms to 1 s on any machine.
  EXPECT_GT(number_after(run.output, "time "), 0.01);
  EXPECT_NEAR(run.rest_s, number_after(run.output, "time "), 0.005) << "what comes before and after is less";
}

TEST(ProgramRun, AddsTheObservedShareOfTheRest) {
  ProgramRunRequest request = request_of("solver-smpi", 1, {"100", "2"});
  request.cluster.program->rest_s_per_call = 1e-5;
  request.cluster.program->rest_s_per_element = 1e-9;
  request.rest = RestMode::model;
  const ProgramRun run = run_program(request);
  // Faces: 100 x 100 of dgemm, 100 x 50 of dtrsm and of dgemv, 50 elements of dcopy.
  const double each_s = 4e-5 + 1e-9 * (1e4 + 5e3 + 5e3 + 50);
  EXPECT_NEAR(number_after(run.output, "elapsed "), 2 * (solver_s(100) + each_s), 1e-6);
  EXPECT_NEAR(run.rest_s, 2 * each_s + 2 * (1e-5 + 1e-9 * 100), 1e-9) << "and of idamax and ddot at the end";
}

TEST(ProgramRun, GivesRegionsTheTimeOfTheirMode) {
  ProgramRunRequest request = request_of("odd-smpi", 1, {"skipped"});
  core::RegionModel& region = request.cluster.program->regions["work"];
  region.mode = core::RegionMode::model;
  region.model = tests::exact_model({{1, 1, 0}}, {1e-2});
  std::string output = run_program(request).output;
  EXPECT_THAT(output, HasSubstr("executed 0"));
  EXPECT_NEAR(number_after(output, "time "), 2, 1e-4);

  region = {core::RegionMode::skip, 1, {}, 4, 2.0};
  const ProgramRun skipped = run_program(request);
  EXPECT_THAT(skipped.output, HasSubstr("executed 0"));
  EXPECT_NEAR(number_after(skipped.output, "time "), 0.5, 1e-4) << "the mean of those observed";
  EXPECT_EQ(skipped.regions.at("work").calls, 1);

  region = {core::RegionMode::factor, 1000, {}, 4, 2.0};
  EXPECT_THAT(run_program(request).output, HasSubstr("executed 1"));
}

TEST(ProgramRun, GivesRegionsOfFortranTheTimeOfTheirMode) {
  ProgramRunRequest request = request_of("regions-smpi", 1);
  EXPECT_THAT(run_program(request).output, HasSubstr("executed 1111,"));
  request.cluster.program->regions["work"] = {core::RegionMode::model, 1, tests::exact_model({{1, 1, 1}}, {1e-3}), 1,
                                              1};
  request.cluster.program->regions["real"] = {core::RegionMode::model, 1, tests::exact_model({{1, 1, 1}}, {1e-2}), 1,
                                              1};
  request.cluster.program->regions["long"] = {core::RegionMode::model, 1, tests::exact_model({{1, 0, 0}}, {1e-11}), 1,
                                              1};
  request.cluster.program->regions["plain"] = {core::RegionMode::skip, 1, {}, 1, 0.05};
  const ProgramRun run = run_program(request);
  EXPECT_THAT(run.output, HasSubstr("executed 0,"));
  EXPECT_NEAR(run.regions.at("work").time_s, 1e-3 * 10 * 20, 1e-12);
  EXPECT_NEAR(number_after(run.output, "time "), 0.2 + 1e-2 * 30 + 0.1 + 0.05, 1e-4);
}

TEST(ProgramRun, SharesLargeAllocations) {
  // Barriers enough for a look at the memory after the matrices are filled.
  ProgramRunRequest request = request_of("solver-smpi", 4, {"2000", "3000"});
  const ProgramRun whole = run_program(request);
  request.share_above_bytes = 1e6;
  const ProgramRun shared = run_program(request);
  EXPECT_EQ(shared.time_s, whole.time_s);
  // 4 ranks with 3 matrices of 32 MB each; memory is looked at now and then only.
  EXPECT_LT(shared.peak_pss_bytes, 100e6);
  EXPECT_GT(whole.peak_pss_bytes, 2 * shared.peak_pss_bytes);
}

// An actor for each of 160,000 waits had mailboxes of SMPI that stayed: 90 MB more.
TEST(ProgramRun, ForgetsWhoWaitedForOneOfSeveralMessages) {
  ProgramRunRequest request = request_of("odd-smpi", 8, {"any", "2000"});
  request.cluster.hosts = core::Hosts::make({"n-[1-8]", 1, 1, {}, 0});
  const double few_bytes = run_program(request).peak_pss_bytes;
  request.arguments = {"any", "20000"};
  EXPECT_LT(run_program(request).peak_pss_bytes, few_bytes + 30e6);
}

TEST(ProgramRun, TellsOfRegionsThatOverlapOrStayOpen) {
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"overlap"})),
              HasSubstr("region outer ends on rank 0 where inner is open"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"open"})), HasSubstr("region open of rank 0 was never closed"));
}

TEST(ProgramRun, TellsOfContentsThatStopAFactorisation) {
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"zeros"})), HasSubstr("dpotrf_ gave info = 1"));
}

TEST(ProgramRun, TellsOfProgramsThatFailOrDeadlock) {
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"fail"})),
              HasSubstr("the simulation of programs_odd-smpi failed: the program ended with exit code 7 on rank 0"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 2, {"deadlock"})), HasSubstr("deadlock"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 2, {"abort"})), HasSubstr("rank 0 called MPI_Abort with code 7"));
}

// Codes that hplcast itself ends with, too: they are the program's, and said to be.
TEST(ProgramRun, TellsTheExitCodeOfTheProgram) {
  const ProgramRunRequest request = request_of("odd-smpi", 2, {"fail-on-1"});
  try {
    run_program(request);
    ADD_FAILURE() << "it ended well";
  } catch (const core::ExternalError& error) {
    EXPECT_EQ(error.code(), core::ExitCode::external_failure);
    EXPECT_EQ(error.status(), 3);
    EXPECT_THAT(error.what(), HasSubstr("the program ended with exit code 3 on rank 1; its output is in"));
    EXPECT_THAT(error.what(), HasSubstr("it said: no such input"));
  }
  EXPECT_THAT(message_of(request_of("odd-smpi", 6, {"returns"})),
              HasSubstr("the program ended with exit code 5 on ranks 0, 1, 2, 3 and 2 more"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"crash"})), HasSubstr("the program was ended by signal 11"));
}

// mpirun calls that a failure, too: the others may go on with what this rank has not done.
TEST(ProgramRun, TellsOfRanksThatEndWithoutFinalize) {
  EXPECT_THAT(message_of(request_of("odd-smpi", 2, {"exits"})), HasSubstr("rank 1 ended without MPI_Finalize"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 2, {"returns-early"})), HasSubstr("rank 1 ended without MPI_Finalize"));
}

TEST(ProgramRun, WarnsOfUnmodelledTimeBeforeTheRun) {
  ProgramRunRequest request = request_of("odd-smpi", 1);
  EXPECT_THAT(check(request), IsEmpty());
  request.cluster.program->observed = {10, 8, 1, 1};
  EXPECT_THAT(check(request), ElementsAre(HasSubstr("11.1 % of the observed time outside of MPI")));
  request.rest = RestMode::model;
  EXPECT_THAT(check(request), ElementsAre(HasSubstr("has no times of the rest")));
  request.cluster.program->rest_s_per_call = 1e-6;
  EXPECT_THAT(check(request), IsEmpty());
  request.rest = RestMode::bench;
  EXPECT_THAT(check(request), IsEmpty());
  request.cluster.program.reset();
  EXPECT_THAT(check(request), ElementsAre(HasSubstr("has no routines of an observed program")));
}

TEST(ProgramRun, WarnsOfFastModeWhereNothingLimitsShortMessages) {
  ProgramRunRequest request = request_of("odd-smpi", 1);
  request.ranks = request.cluster.hosts.cores_of(0) + 1;
  request.fast = true;
  EXPECT_THAT(check(request), IsEmpty());
  core::NetworkModel::Values network = request.cluster.network.values();
  network.remote->cost(core::MessageCost::isend) = core::SegmentedLaw::make({{0, 1e-7, 0}});
  request.cluster.network = core::NetworkModel::make(network);
  EXPECT_THAT(check(request), ElementsAre(HasSubstr("many at once (segments of MPI_Bcast) are far too fast")));
  --request.ranks;
  EXPECT_THAT(check(request), IsEmpty()) << "inside one host";
  ++request.ranks;
  request.fast = false;
  EXPECT_THAT(check(request), IsEmpty());
}

TEST(ProgramRun, RefusesWhatItCannotSimulate) {
  EXPECT_THAT(message_of(request_of("solver", 1)), HasSubstr("it is not linked with libhplcast-smpi.so"));
  EXPECT_THAT(message_of(request_of("plain-smpi", 1)), HasSubstr("it is not linked with libhplcast-smpi.so"))
      << "SMPI's own compiler has no models";
  EXPECT_THAT(message_of(request_of("nowhere", 1)), HasSubstr("there is no such file"));
  EXPECT_THAT(message_of(request_of("odd-smpi", 9)), HasSubstr("at most 8, the cores of cluster program"));
}

TEST(ProgramRun, RefusesAProgramThatWasLinkedForAnotherVersion) {
  EXPECT_THAT(message_of(request_of("odd-smpi", 1, {"interface"})),
              HasSubstr("linked for another version of hplcast (interface 1, here"));
}

}  // namespace
}  // namespace hplcast::study
